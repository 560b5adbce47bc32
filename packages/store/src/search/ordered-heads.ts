import { withErrorContext } from '@akin/domain';
import type { SqlValue } from '../database/engine/engine.ts';
import { headOrder } from './collapse-by-field.ts';
import { compileQuery } from './compile.ts';
import type { InMemoryCandidates } from './in-memory-candidates.ts';
import { contextOf } from './matching.ts';
import { type ChosenPage, cursorOrder } from './page.ts';
import { Params } from './params.ts';
import { type SearchRequest, sortOf } from './request.ts';
import type { Snapshot } from './snapshot.ts';
import { type ColumnKey, decodeCursor, type SortKey, sortKeys } from './sort.ts';

/*
 * The heads of groups in the searcher, if values of columns order them: it has the values of all rows in memory, and so
 * it knows the heads exactly, and also the page if columns order that too. The database reads the rows of the page.
 */

/** Orders by columns. */
export interface HeadOrder {
  /** The order of the documents of a group. */
  readonly heads: readonly ColumnKey[];
  /** The order of the result; undefined if it ranks. */
  readonly page: readonly ColumnKey[] | undefined;
  /** The score of each match. */
  readonly score: number;
}

/**
 * The order of the heads of a search, if columns determine it.
 * @returns undefined if they do not, or if the heads are among documents that only the database knows
 * @throws AkinError bad-request for an invalid query or order
 */
export function headOrderOf(request: SearchRequest, snapshot: Snapshot): HeadOrder | undefined {
  const { collapseBy, rank, query } = request;
  if (collapseBy === undefined || (rank !== undefined && (rank.vector === undefined || rank.known))) return undefined;
  if (rank?.maxDistance !== undefined) return undefined;
  const score =
    rank === undefined && withErrorContext('q', () => compileQuery(query, contextOf(snapshot, new Params())).score);
  const isConstant = typeof score === 'number';
  const scored: SortKey[] = isConstant ? [] : [{ sql: null, type: 'float8', descending: true }];
  const byColumns = (order: ReturnType<typeof sortOf>) => {
    const keys = sortKeys(order, () => scored, snapshot, new Params());
    return keys.every(isOfColumn) ? keys : undefined;
  };
  const heads = byColumns(headOrder(collapseBy, request));
  if (heads === undefined) return undefined;
  if (rank !== undefined) return { heads, page: undefined, score: 0 };
  const page = byColumns(sortOf(request));
  return page && isConstant ? { heads, page, score } : undefined;
}

function isOfColumn(key: SortKey): key is ColumnKey {
  return key.column !== undefined;
}

/** Finds the page of an unranked search. @returns undefined if the searcher cannot find it */
export async function chooseHeads(
  finder: InMemoryCandidates,
  { heads, page = [], score }: HeadOrder,
  request: SearchRequest,
  snapshot: Snapshot,
): Promise<ChosenPage | undefined> {
  const { start = 0, rows, cursorMark } = request;
  const after =
    cursorMark === undefined || cursorMark === '*' ? undefined : decodeCursor(cursorMark, page, cursorOrder(request));
  const found = await finder.heads(request, snapshot.collapsed ?? [], heads, {
    keys: page,
    wanted: start + rows,
    after: after?.map(textOf),
  });
  if (found === undefined) return undefined;
  const docs = Array.from(found.docs.subarray(start), BigInt);
  return { docs, found: found.found, matches: found.matches, score };
}

/** A value of a cursor as columns in memory have it. */
function textOf(value: SqlValue): string | undefined {
  if (value === null) return undefined;
  return value instanceof Date ? String(value.getTime() / 1_000) : String(value);
}
