import { AkinError, elementType, type FieldValue, type Query, quote, typeName } from '@akin/domain';
import type { Collection, Store } from '../context.ts';
import { findColumn } from './columns.ts';
import { expandWords } from './expand-words.ts';
import { likePattern } from './field-clauses.ts';
import { fieldValues } from './field-values.ts';
import { conditionsOf } from './matching.ts';
import { Params } from './params.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';

export interface TermsRequest {
  readonly field: string;
  /** Maximum number of values. Absent: all. */
  readonly limit?: number | undefined;
  /** Only values with this prefix; for String fields and `text`. */
  readonly prefix?: string | undefined;
  /** By falling count (the default), or by value. */
  readonly sort?: 'count' | 'index' | undefined;
  /** Only documents that match all of them count. */
  readonly filters?: readonly Query[];
  /** As for a search. */
  readonly now?: Date;
  readonly timeZone?: string;
  readonly atLeast?: bigint | undefined;
}

export interface TermCount {
  readonly value: FieldValue;
  /** Number of documents with the value. */
  readonly count: number;
}

/** The values of a field in all visible documents that match, with counts. Those of `text` are words. */
export async function terms(store: Store, collection: Collection, request: TermsRequest): Promise<TermCount[]> {
  const { field, limit, prefix, sort = 'count', atLeast, filters = [], now = new Date(), timeZone = 'UTC' } = request;
  const freshness = { atLeast, isCurrent: atLeast === undefined };
  const read = async (snapshot: Snapshot) => {
    const found = findColumn(snapshot, field, (problem) => parameterError('terms.fl', problem));
    const values = fieldValues(found);
    if (values === undefined) {
      throw parameterError(
        'terms.fl',
        `the values of ${quote(field)} cannot be listed, which is a ${typeName(found.type)}`,
      );
    }
    const isString = found.type === 'text' || elementType(found.type) === 'string';
    if (prefix !== undefined && prefix !== '' && !isString) {
      throw parameterError('terms.prefix', `values of ${quote(field)} have none, which is a ${typeName(found.type)}`);
    }

    const params = new Params();
    const search = { query: { kind: 'all' } as const, filters, rows: 0 };
    await expandWords(search, snapshot, { now, timeZone });
    const { where } = conditionsOf(search, snapshot, { now, timeZone }, params);
    const wanted = [values.isPresent];
    if (prefix !== undefined && prefix !== '')
      wanted.push(`e.v like ${params.add(likePattern([prefix, { any: '*' }]), 'text')}`);
    const rows = await snapshot.tx.query<{ value: FieldValue; count: bigint }>(
      `select e.v as value, count(*) as count
         from (select ${values.elements} as v from ${snapshot.sqlSchema}.documents d where ${where}) e
        where ${wanted.join(' and ')} group by e.v order by ${sort === 'count' ? '2 desc, 1' : '1'}
        ${limit === undefined ? '' : `limit ${params.add(limit, 'int8')}`}`,
      params.values,
    );
    return rows.map((row) => ({ value: row.value, count: Number(row.count) }));
  };
  return withSnapshot(store, collection, read, freshness);
}

function parameterError(parameter: string, problem: string): AkinError {
  return new AkinError('bad-request', `Parameter ${parameter}: ${problem}.`);
}
