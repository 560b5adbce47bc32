import type { Query } from '@akin/domain';
import { excludedQueries } from './excluded-queries.ts';
import { isUnlimited, matchSource } from './matching.ts';
import { NO_PAGE, type Page } from './page.ts';
import { isOfOneDocument, isValued, type SearchRequest, sortOf } from './request.ts';
import { valueColumn } from './score-keys.ts';
import type { Snapshot } from './snapshot.ts';

export interface Totals {
  readonly found: number;
  /** False: the number is a lower bound. */
  readonly exact: boolean;
  /** The highest score, or the least distance, of all matches. */
  readonly best: number | null;
}

/**
 * The number of matches and the best value of all: reads only what the page and the commit do not contain already. The
 * number of documents, and of those with a descriptor, is counted by commits. Everything else is counted completely,
 * unless the request accepts less.
 */
export async function readTotals(request: SearchRequest, snapshot: Snapshot, page: Page): Promise<Totals> {
  const best = bestOf(request, page);
  if (best === undefined) return askBest(request, snapshot);
  const found = foundBy(request, snapshot, page);
  if (found !== undefined) return { found, exact: true, best: found > 0 ? best : null };
  const { start = 0, minExactCount } = request;
  // Counts one match more than requested: if there are that many, there may be more.
  const enough = minExactCount === undefined ? undefined : Math.max(minExactCount, start + page.rows.length) + 1;
  const total = enough === undefined ? await countAll(request, snapshot) : await count(request, snapshot, enough);
  return { found: total, exact: total !== enough, best: total > 0 ? best : null };
}

/** The best value, or null if the request wants none. @returns undefined if the page does not contain it */
function bestOf(request: SearchRequest, { rows, constantScore, best: nearest }: Page): number | null | undefined {
  if (nearest !== undefined) return nearest ?? constantScore;
  if (constantScore !== null || !isValued(request)) return constantScore;
  const [first] = sortOf(request);
  const isBestFirst = first?.name === 'score' && first.direction === 'desc' && request.rows > 0;
  return isBestFirst && isFromTheStart(request) ? (rows[0]?.value ?? null) : undefined;
}

/** The number of matches. @returns undefined if neither the page nor the commit contains it */
function foundBy(request: SearchRequest, snapshot: Snapshot, { rows, found }: Page): number | undefined {
  if (found !== undefined) return found;
  if (allExceptQuery(request, snapshot)?.length === 0) return maxRanked(request, snapshot);
  const { start = 0, cursorMark } = request;
  const isFirst = isFromTheStart(request);
  const isShort = rows.length < request.rows && (isFirst || (cursorMark === undefined && rows.length > 0));
  const isOnlyOne = isFirst && rows.length === 1 && isOfOneDocument(request);
  return isShort || isOnlyOne ? start + rows.length : undefined;
}

/** The number of matches, if nothing of them was read. */
export async function countMatches(request: SearchRequest, snapshot: Snapshot): Promise<number> {
  return (await readTotals(request, snapshot, { ...NO_PAGE, best: null, constantScore: 0 })).found;
}

function isFromTheStart({ start = 0, cursorMark }: SearchRequest): boolean {
  return start === 0 && (cursorMark === undefined || cursorMark === '*');
}

/** If a request leaves out only the matches of one query, it counts those. */
async function countAll(request: SearchRequest, snapshot: Snapshot): Promise<number> {
  const [excluded] = allExceptQuery(request, snapshot) ?? [];
  if (excluded === undefined) return count(request, snapshot);
  const few = { ...request, query: excluded, filters: [], start: 0, rows: 0 };
  return maxRanked(request, snapshot) - (await countMatches(few, snapshot));
}

/** @param enough counts at most so many */
async function count(request: SearchRequest, snapshot: Snapshot, enough?: number): Promise<number> {
  const counted = withoutNeedlessRank(request, snapshot);
  const isWithin = request.rank?.maxDistance !== undefined;
  const { params, from, value, inRange } = matchSource(counted, snapshot, isWithin);
  const matches = `(select ${valueColumn(value)} from ${from}) m where ${inRange}`;
  const [row] = await snapshot.tx.query<{ found: bigint }>(
    enough === undefined
      ? `select count(*) as found from ${matches}`
      : `select count(*) as found from (select from ${matches} limit ${params.add(enough, 'int8')}) c`,
    params.values,
  );
  return Number(row?.found ?? 0);
}

async function askBest(request: SearchRequest, snapshot: Snapshot): Promise<Totals> {
  const { params, from, value, inRange } = matchSource(request, snapshot, true);
  const best = request.rank === undefined ? 'max' : 'min';
  const [row] = await snapshot.tx.query<{ found: bigint; best: number | null }>(
    `select count(*) as found, ${best}(m.value) as best from (select ${valueColumn(value)} from ${from}) m where ${inRange}`,
    params.values,
  );
  return { found: Number(row?.found ?? 0), exact: true, best: row?.best ?? null };
}

/**
 * If a request asks for everything, or for everything but the matches of one query: that query, or nothing. @returns
 * undefined for any other request
 */
function allExceptQuery(
  { query, filters = [], rank, collapseBy }: SearchRequest,
  { key, collapsed = [] }: Snapshot,
): readonly Query[] | undefined {
  // Commits have not counted what is inside the filter of a key, within a distance, or left of groups.
  const isOfAll = rank === undefined || isUnlimited(rank);
  const isWhole = key === undefined && isOfAll && collapsed.length === 0 && collapseBy === undefined;
  if (!isWhole) return undefined;
  const [only, ...others] = [query, ...filters].filter(({ kind }) => kind !== 'all');
  if (only === undefined) return [];
  const excluded = others.length === 0 ? excludedQueries(only) : undefined;
  return excluded?.length === 1 ? excluded : undefined;
}

/** The number of documents that a ranking can find, as commits have counted them. */
function maxRanked({ rank }: SearchRequest, { documents, descriptorCounts }: Snapshot): number {
  return rank === undefined ? Number(documents) : (descriptorCounts.get(rank.module) ?? 0);
}

/** If every document has the descriptor, no check is needed. */
function withoutNeedlessRank(request: SearchRequest, snapshot: Snapshot): SearchRequest {
  const { rank } = request;
  if (rank === undefined || !isUnlimited(rank)) return request;
  return maxRanked(request, snapshot) === Number(snapshot.documents) ? { ...request, rank: undefined } : request;
}
