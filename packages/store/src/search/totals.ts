import type { Query } from '@akin/domain';
import { excludedQueries } from './excluded-queries.ts';
import { isAllDescribed, isUnlimited, matchSource } from './matching.ts';
import type { Page } from './page.ts';
import { isOfOneDocument, isValued, type SearchRequest, sortOf } from './request.ts';
import { valueColumn } from './score-keys.ts';
import type { Snapshot } from './snapshot.ts';

interface Count {
  readonly found: number;
  /** False: the number is a lower bound. */
  readonly exact: boolean;
}

export interface Totals extends Count {
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
  const known = foundBy(request, page);
  const least = (request.start ?? 0) + page.rows.length;
  const counted = known === undefined ? await countMatches(request, snapshot, least) : { found: known, exact: true };
  return { ...counted, best: counted.found > 0 ? best : null };
}

/** The best value, or null if the request wants none. @returns undefined if the page does not contain it */
function bestOf(request: SearchRequest, { rows, constantScore, best: nearest }: Page): number | null | undefined {
  if (nearest !== undefined) return nearest ?? constantScore;
  if (constantScore !== null || !isValued(request)) return constantScore;
  const [first] = sortOf(request);
  const isBestFirst = first?.name === 'score' && first.direction === 'desc' && request.rows > 0;
  return isBestFirst && isFromTheStart(request) ? (rows[0]?.value ?? null) : undefined;
}

/** The number of matches. @returns undefined if the page does not contain it */
function foundBy(request: SearchRequest, { rows, found }: Page): number | undefined {
  if (found !== undefined) return found;
  const { start = 0, cursorMark } = request;
  const isFirst = isFromTheStart(request);
  const isShort = rows.length < request.rows && (isFirst || (cursorMark === undefined && rows.length > 0));
  const isOnlyOne = isFirst && rows.length === 1 && isOfOneDocument(request);
  return isShort || isOnlyOne ? start + rows.length : undefined;
}

function isFromTheStart({ start = 0, cursorMark }: SearchRequest): boolean {
  return start === 0 && (cursorMark === undefined || cursorMark === '*');
}

/**
 * The number of matches, if nothing of them was read.
 *
 * @param least how many there are at least
 */
export async function countMatches(request: SearchRequest, snapshot: Snapshot, least = 0): Promise<Count> {
  const { minExactCount } = request;
  const excluded = allExceptQuery(request, snapshot);
  if (excluded?.length === 0) return { found: maxRanked(request, snapshot), exact: true };
  if (minExactCount !== undefined) {
    // Counts one match more than requested: if there are that many, there may be more.
    const enough = Math.max(minExactCount, least) + 1;
    const found = await count(request, snapshot, enough);
    return { found, exact: found !== enough };
  }
  const [query] = excluded ?? [];
  if (query === undefined) return { found: await count(request, snapshot), exact: true };
  const { found } = await countMatches({ ...request, query, filters: [] }, snapshot);
  return { found: maxRanked(request, snapshot) - found, exact: true };
}

/** @param enough counts at most so many */
async function count(request: SearchRequest, snapshot: Snapshot, enough?: number): Promise<number> {
  const { rank } = request;
  const isNeedless = rank !== undefined && isUnlimited(rank) && isAllDescribed(rank, snapshot);
  const isWithin = rank?.maxDistance !== undefined;
  const counted = isNeedless ? { ...request, rank: undefined } : request;
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
