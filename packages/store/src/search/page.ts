import type { Row, SqlValue } from '../database/engine/engine.ts';
import { documentColumns, type ReadDocument, selectFields } from './hydrate.ts';
import type { MatchSource } from './match-source.ts';
import { matchSource } from './matching.ts';
import { Params } from './params.ts';
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

/** Documents of a page that are known, with what is known of all matches. */
export interface ChosenPage {
  readonly docs: readonly bigint[];
  readonly found: number;
  readonly matches: number;
  /** The score of each match. */
  readonly score: number;
}

/** A page that was not read. */
export const NO_PAGE: Page = { rows: [], documents: new Map(), mark: undefined, constantScore: null };

/** Identifies the order of a request in its cursor marks. */
export function cursorOrder(request: SearchRequest): string {
  const { rank } = request;
  return orderFingerprint(sortOf(request), rank && [rank.module, ...(rank.vector ?? []), rank.firstId]);
}

/**
 * Ranks or sorts the matches and reads the documents of the page, in one statement.
 * @param chosen the documents of the page, if they are known
 */
export async function readPage(request: SearchRequest, snapshot: Snapshot, chosen?: ChosenPage): Promise<Page> {
  const { rank, cursorMark, collapseBy } = request;
  const { params, from, value, inRange } =
    chosen === undefined ? matchSource(request, snapshot, isValued(request)) : sourceOf(chosen, snapshot, new Params());
  const constantScore = typeof value === 'number' && isValued(request) ? value : null;
  const counts = chosen && { found: chosen.found, matches: chosen.matches };
  if (request.rows === 0) return { ...NO_PAGE, constantScore, ...counts };

  const keys = sortKeys(sortOf(request), () => scoreKeys(value, rank, params), snapshot, params);
  const fields = selectFields(snapshot, request.fields ?? ['*']);
  const shown = documentColumns(snapshot.store, snapshot, fields, request.distances ?? [], params);
  // The contents are read only from the rows of the page, after they are chosen: of one document, at once.
  const isOne = isOfOneDocument(request);
  const isAtOnce = isOne && shown.joins === '';
  const columns = [`d.doc, d.id, ${valueColumn(value)}${keyColumns(keys)}`, ...(isAtOnce ? shown.columns : [])];
  const onward =
    chosen !== undefined || cursorMark === undefined || cursorMark === '*'
      ? 'true'
      : afterCursor(keys, decodeCursor(cursorMark, keys, cursorOrder(request)), params);
  // If distances, or an order, decide what is shown, the count comes with the page: they are computed once.
  const counted = !chosen && (rank?.maxDistance !== undefined || collapseBy !== undefined);
  const { sqlSchema } = snapshot;
  const matches = `select * from (select ${columns.join(', ')} from ${from}) m where ${inRange}`;
  const source = counted
    ? `with m as materialized (${matches}) select m.*, (select count(*) from m) as found from m where true`
    : matches;
  const page = `${source} and ${onward}
        order by ${orderBy(keys)} limit ${params.add(request.rows, 'int8')} offset ${params.add(chosen ? 0 : (request.start ?? 0), 'int8')}`;
  const withContents = `
     select ${['m.*', ...shown.columns].join(', ')} from (${page}) m
     ${shown.columns.length > 0 ? `join ${sqlSchema}.documents d on d.doc = m.doc` : ''}
     ${shown.joins}
     order by ${orderBy(keys)}`;
  const ask = isOne || chosen ? snapshot.lookUp : snapshot.tx.query;
  const found = await ask<PageRow & Row>(isAtOnce ? page : withContents, params.values);
  const last = cursorMark === undefined ? undefined : found.at(-1);
  const lastKeys = last && keys.map((key, i): SqlValue => last[keyColumn(key, i)]);
  return {
    rows: found.map(({ doc, id, value }) => ({ doc, id, value: constantScore ?? value })),
    documents: new Map(found.map((row) => [row.doc, shown.read(row)])),
    mark: lastKeys && encodeCursor(keys, lastKeys, cursorOrder(request)),
    constantScore,
    ...(counted && found.length > 0 ? { found: Number(found[0]?.found) } : {}),
    ...counts,
  };
}

function sourceOf({ docs, score }: ChosenPage, { sqlSchema }: Snapshot, params: Params): MatchSource {
  const from = `${sqlSchema}.documents d where d.doc = any(${params.add(docs, 'int8[]')})`;
  return { params, from, value: score, inRange: 'true' };
}
