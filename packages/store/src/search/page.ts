import type { Store } from '../context.ts';
import type { Row, SqlValue } from '../engine/engine.ts';
import type { Clock } from './date-math.ts';
import { documentColumns, type ReadDocument, selectFields } from './hydrate.ts';
import { matchSource } from './matching.ts';
import { isOfOneDocument, isValued, type Ranking, type SearchRequest, sortOf } from './request.ts';
import { scoreKeys, valueColumn } from './score-keys.ts';
import type { Snapshot } from './snapshot.ts';
import {
  afterCursor,
  decodeCursor,
  encodeCursor,
  keyColumn,
  keyColumns,
  orderBy,
  orderFingerprint,
  sortKeys,
} from './sort.ts';

interface PageRow {
  readonly doc: bigint;
  readonly id: string;
  /** Distance or score. Null if none is needed. */
  readonly value: number | null;
}

export interface Page {
  readonly rows: readonly PageRow[];
  /** Their contents, by their number. */
  readonly documents: ReadonlyMap<bigint, ReadDocument>;
  /** The cursor mark after the last row. */
  readonly mark: string | undefined;
  /** The score of every match, if it is known without a query. */
  readonly constantScore: number | null;
  /** Number of matching documents, if the same statement read it. */
  readonly found?: number | undefined;
  /** Number of matching documents, if `found` counts only those that represent groups, and if it is known. */
  readonly matches?: number | undefined;
  /** The smallest distance of all matches, if the same statement read it. Null if there are none. */
  readonly best?: number | null | undefined;
  readonly ranking?: Ranking;
}

/** A page that was not read. */
export const NO_DOCUMENTS: ReadonlyMap<bigint, ReadDocument> = new Map();

/** Ranks or sorts the matches and reads the documents of the page, in one statement. */
export async function readPage(store: Store, request: SearchRequest, snapshot: Snapshot, clock: Clock): Promise<Page> {
  const { rank, cursorMark, collapseBy } = request;
  const { params, from, value, inRange } = matchSource(request, snapshot, clock, isValued(request));
  const constantScore = typeof value === 'number' && isValued(request) ? value : null;
  if (request.rows === 0) return { rows: [], documents: NO_DOCUMENTS, mark: undefined, constantScore };

  const keys = sortKeys(sortOf(request), () => scoreKeys(value, rank, params), snapshot, params);
  const order = () => orderFingerprint(sortOf(request), rank && [rank.module, ...(rank.vector ?? []), rank.firstId]);
  const fields = selectFields(snapshot, request.fields ?? ['*']);
  const shown = documentColumns(store, snapshot, fields, request.distances ?? [], params);
  // The contents are read only from the rows of the page, after they are chosen: of one document, at once.
  const isOne = isOfOneDocument(request);
  const isAtOnce = isOne && shown.joins === '';
  const columns = [`d.doc, d.id, ${valueColumn(value)}${keyColumns(keys)}`, ...(isAtOnce ? shown.columns : [])];
  const onward =
    cursorMark === undefined || cursorMark === '*'
      ? 'true'
      : afterCursor(keys, decodeCursor(cursorMark, keys, order()), params);
  // If distances, or an order, decide what is shown, the count comes with the page: they are computed once.
  const counted = rank?.maxDistance !== undefined || collapseBy !== undefined;
  const { sqlSchema } = snapshot;
  const matches = `select * from (select ${columns.join(', ')} from ${from}) m where ${inRange}`;
  const source = counted
    ? `with m as materialized (${matches}) select m.*, (select count(*) from m) as found from m where true`
    : matches;
  const page = `${source} and ${onward}
        order by ${orderBy(keys)} limit ${params.add(request.rows, 'int8')} offset ${params.add(request.start ?? 0, 'int8')}`;
  const withContents = `
     select ${['m.*', ...shown.columns].join(', ')} from (${page}) m
     ${shown.columns.length > 0 ? `join ${sqlSchema}.documents d on d.doc = m.doc` : ''}
     ${shown.joins}
     order by ${orderBy(keys)}`;
  const ask = isOne ? snapshot.lookUp : snapshot.tx.query;
  const found = await ask<PageRow & Row>(isAtOnce ? page : withContents, params.values);
  const last = cursorMark === undefined ? undefined : found.at(-1);
  const lastKeys = last && keys.map((key, i): SqlValue => last[keyColumn(key, i)]);
  return {
    rows: found.map(({ doc, id, value }) => ({ doc, id, value: constantScore ?? value })),
    documents: new Map(found.map((row) => [row.doc, shown.read(row)])),
    mark: lastKeys && encodeCursor(keys, lastKeys, order()),
    constantScore,
    ...(counted && found.length > 0 ? { found: Number(found[0]?.found) } : {}),
  };
}
