import { AkinError, elementType, type Query, quote, typeName } from '@akin/domain';
import type { Collection } from '../database/context.ts';
import { findColumn } from './columns.ts';
import type { SearchStore } from './context.ts';
import { expandWords } from './expand-words.ts';
import type { CountRow } from './facet-plan.ts';
import { fieldPlan } from './facet-plans.ts';
import type { ValueCount } from './facet-request.ts';
import { fieldValues } from './field-values.ts';
import { contextOf, matchedBy } from './matching.ts';
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
}

/** The values of a field in all visible documents that match, with counts. Those of `text` are words. */
export async function terms(
  store: SearchStore,
  collection: Collection,
  request: TermsRequest,
): Promise<readonly ValueCount[]> {
  const { field, limit, prefix, sort = 'count', filters = [], now = new Date(), timeZone = 'UTC' } = request;
  const read = async (shown: Snapshot) => {
    const snapshot = { ...shown, clock: { now, timeZone } };
    const found = findColumn(snapshot, field, (problem) => parameterError('terms.fl', problem));
    if (fieldValues(found) === undefined) {
      throw parameterError(
        'terms.fl',
        `the values of ${quote(field)} cannot be listed, which is a ${typeName(found.type)}`,
      );
    }
    const isString = found.type === 'text' || elementType(found.type) === 'string';
    if (prefix !== undefined && prefix !== '' && !isString) {
      throw parameterError('terms.prefix', `values of ${quote(field)} have none, which is a ${typeName(found.type)}`);
    }

    const search = { query: { kind: 'all' } as const, filters, rows: 0 };
    await expandWords(search, snapshot);
    const context = contextOf(snapshot, new Params());
    const matched = matchedBy(search, snapshot)(context.params);
    const listed = { limit, offset: 0, mincount: 1, sort, prefix: prefix || undefined, missing: false };
    const plan = fieldPlan({ kind: 'field', field, ...listed }, snapshot);
    const rows = await snapshot.tx.query<CountRow>(plan.select(matched, context, false), context.params.values);
    return plan.result(rows).counts;
  };
  return withSnapshot(store, collection, read, { isCurrent: true });
}

function parameterError(parameter: string, problem: string): AkinError {
  return new AkinError('bad-request', `Parameter ${parameter}: ${problem}.`);
}
