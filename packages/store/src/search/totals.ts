import type { Clock } from './date-math.ts';
import { matching } from './matching.ts';
import type { Page } from './page.ts';
import { isValued, type SearchRequest, sortOf } from './request.ts';
import type { Snapshot } from './snapshot.ts';

/** How many match and the best value of all: asks only for what the page and the commit do not tell already. */
export async function readTotals(
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  { rows, constantScore }: Page,
): Promise<{ found: number; best: number | null }> {
  const { rank, filters = [], start = 0, cursorMark } = request;
  const fromTheStart = start === 0 && (cursorMark === undefined || cursorMark === '*');
  const isLastPage = rows.length < request.rows && (fromTheStart || (cursorMark === undefined && rows.length > 0));
  const everything = rank === undefined && filters.length === 0 && request.query.kind === 'all';
  const found = everything ? Number(snapshot.documents) : isLastPage ? start + rows.length : undefined;

  const [first] = sortOf(request);
  const bestFirst = fromTheStart && request.rows > 0 && first?.name === 'score' && first.direction === 'desc';
  const asksBest = isValued(request) && constantScore === null && !bestFirst;
  const known = constantScore ?? (bestFirst ? (rows[0]?.value ?? null) : null);
  if (found !== undefined && !asksBest) return { found, best: found > 0 ? known : null };

  const { params, from, value, inRange } = matching(
    request,
    snapshot,
    clock,
    asksBest || rank?.maxDistance !== undefined,
  );
  const best = asksBest ? `${rank === undefined ? 'max' : 'min'}(m.value)` : 'null::float8';
  const [row] = await snapshot.tx.query<{ found: bigint; best: number | null }>(
    `select count(*) as found, ${best} as best
       from (select ${typeof value === 'string' ? value : 'null::float8'} as value from ${from}) m where ${inRange}`,
    params.values,
  );
  const counted = Number(row?.found ?? 0);
  return { found: counted, best: asksBest ? (row?.best ?? null) : counted > 0 ? known : null };
}
