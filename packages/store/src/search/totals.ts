import type { Query } from '@akin/domain';
import type { Clock } from './date-math.ts';
import { matchSource } from './matching.ts';
import { NO_DOCUMENTS, type Page } from './page.ts';
import { isOfOneDocument, isValued, type SearchRequest, sortOf } from './request.ts';
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
export async function readTotals(
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  { rows, constantScore, found: foundByPage, best: nearest }: Page,
): Promise<Totals> {
  const { rank, start = 0, cursorMark, minExactCount } = request;
  const fromTheStart = start === 0 && (cursorMark === undefined || cursorMark === '*');
  const isShort = rows.length < request.rows && (fromTheStart || (cursorMark === undefined && rows.length > 0));
  const isLastPage = isShort || (fromTheStart && rows.length === 1 && isOfOneDocument(request));
  const isCollapsed = (snapshot.collapsed ?? []).length > 0 || snapshot.shown !== undefined;
  const whole = rank?.maxDistance === undefined && !isCollapsed ? allExceptQuery(request, snapshot) : undefined;
  const everything = whole?.length === 0;
  const found =
    foundByPage ?? (everything ? maxRanked(request, snapshot) : isLastPage ? start + rows.length : undefined);

  const [first] = sortOf(request);
  const bestFirst = fromTheStart && request.rows > 0 && first?.name === 'score' && first.direction === 'desc';
  const asksBest = isValued(request) && constantScore === null && !bestFirst && nearest === undefined;
  const known = nearest ?? constantScore ?? (bestFirst ? (rows[0]?.value ?? null) : null);
  if (found !== undefined && !asksBest) return { found, exact: true, best: found > 0 ? known : null };

  const [excluded] = found === undefined && !asksBest && minExactCount === undefined ? (whole ?? []) : [];
  if (excluded !== undefined) {
    // If only a few are excluded, those are counted.
    const out = await readTotals(
      { ...request, query: excluded, filters: [], start: 0, rows: 0 },
      snapshot,
      clock,
      NO_PAGE,
    );
    const left = maxRanked(request, snapshot) - out.found;
    return { found: left, exact: true, best: left > 0 ? known : null };
  }

  const { params, from, value, inRange } = asksBest
    ? matchSource(request, snapshot, clock, true)
    : matchSource(withoutNeedlessRank(request, snapshot), snapshot, clock, rank?.maxDistance !== undefined);
  const best = asksBest ? `${rank === undefined ? 'max' : 'min'}(m.value)` : 'null::float8';
  // Counts one match more than requested: if there are that many, there may be more.
  const enough = minExactCount === undefined || asksBest ? undefined : Math.max(minExactCount, start + rows.length) + 1;
  const matches = `select ${typeof value === 'string' ? value : 'null::float8'} as value from ${from}`;
  const [row] = await snapshot.tx.query<{ found: bigint; best: number | null }>(
    enough === undefined
      ? `select count(*) as found, ${best} as best from (${matches}) m where ${inRange}`
      : `select count(*) as found, null::float8 as best
           from (select from (${matches}) m where ${inRange} limit ${params.add(enough, 'int8')}) c`,
    params.values,
  );
  const total = Number(row?.found ?? 0);
  return {
    found: total,
    exact: total !== enough,
    best: asksBest ? (row?.best ?? null) : total > 0 ? known : null,
  };
}

/** A page that was not read, and whose best value is not needed. */
const NO_PAGE: Page = { rows: [], documents: NO_DOCUMENTS, mark: undefined, constantScore: 0, best: null };

/**
 * If a request asks for everything, or for everything but the matches of one query: that query, or nothing. @returns
 * undefined for any other request
 */
function allExceptQuery({ query, filters = [] }: SearchRequest, { key }: Snapshot): readonly Query[] | undefined {
  // Commits have not counted what is inside the filter of a key.
  if (key !== undefined) return undefined;
  const [only, ...others] = [query, ...filters].filter(({ kind }) => kind !== 'all');
  if (only === undefined) return [];
  if (others.length > 0 || only.kind !== 'bool') return undefined;
  const { must, should, mustNot } = only;
  const isWhole = [...must, ...should].every(({ kind }) => kind === 'all') && must.length + should.length > 0;
  return isWhole && mustNot.length === 1 ? mustNot : undefined;
}

/** The number of documents that a ranking can find, as commits have counted them. */
function maxRanked({ rank }: SearchRequest, { documents, descriptorCounts }: Snapshot): number {
  return rank === undefined ? Number(documents) : (descriptorCounts.get(rank.module) ?? 0);
}

/** If every document has the descriptor, no check is needed. */
function withoutNeedlessRank(request: SearchRequest, snapshot: Snapshot): SearchRequest {
  const { rank } = request;
  if (rank === undefined || rank.maxDistance !== undefined) return request;
  return maxRanked(request, snapshot) === Number(snapshot.documents) ? { ...request, rank: undefined } : request;
}
