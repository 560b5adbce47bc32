import type { Query } from '@akin/domain';
import { expandWords } from './expand-words.ts';
import { conditionsOf, distanceTo, rankedTable } from './matching.ts';
import { Params } from './params.ts';
import type { SearchRequest } from './request.ts';
import type { Snapshot } from './snapshot.ts';

const MATCH_ALL: Query = { kind: 'all' };

/** Near-duplicates that a result leaves out, because it shows another document of their group. */
export interface Collapsed {
  readonly docs: readonly bigint[];
  /** Number of them that each document represents. */
  readonly counts: ReadonlyMap<bigint, number>;
}

/**
 * Finds the matches to leave out, so that a result shows one document of each group of near-duplicates: the
 * representative if it matches, or else the match nearest to it. Documents of the latest commits are in no group yet.
 */
export async function collapseDuplicates(request: SearchRequest, snapshot: Snapshot): Promise<Collapsed> {
  const { sqlSchema: S, tx } = snapshot;
  await expandWords(request, snapshot);
  const params = new Params();
  const { where } = conditionsOf(request, snapshot, params);
  const rows = await tx.query<{ doc: bigint; shown: bigint }>(
    `select m.doc, m.shown from (
       select m.doc, row_number() over w as rank, first_value(m.doc) over w as shown
         from (select doc, representative, distance from ${S}.followers
               union all select doc, doc, -1 from ${S}.representatives where follower_count > 0 and not removed) m
         join ${S}.documents d on d.doc = m.doc
        where ${where} and ${rankable(request, snapshot, params)}
       window w as (partition by m.representative order by m.distance, d.id)) m
      where m.rank > 1`,
    params.values,
  );
  const counts = new Map<bigint, number>();
  for (const { shown } of rows) counts.set(shown, (counts.get(shown) ?? 0) + 1);
  return { docs: rows.map(({ doc }) => doc), counts };
}

/**
 * The search without some of its queries, for facets that exclude them. More documents match then, so that other ones
 * are collapsed.
 */
export async function withQueriesRemoved(
  without: ReadonlySet<Query>,
  request: SearchRequest,
  snapshot: Snapshot,
): Promise<{ readonly request: SearchRequest; readonly snapshot: Snapshot }> {
  const { collapseBy } = request;
  // The facets of a grouped result count all matches, as in Solr.
  const countsAll = collapseBy?.query === undefined || without.has(collapseBy.query);
  const left = {
    ...request,
    collapseBy: countsAll ? undefined : collapseBy,
    query: without.has(request.query) ? MATCH_ALL : request.query,
    filters: (request.filters ?? []).filter((one) => !without.has(one)),
  };
  if (!request.collapse || without.size === 0) return { request: left, snapshot };
  const { docs } = await collapseDuplicates(left, { ...snapshot, collapsed: undefined });
  return { request: left, snapshot: { ...snapshot, collapsed: docs } };
}

/** The condition that a document has a descriptor, and is near enough, if a search ranks by it. */
function rankable({ rank }: SearchRequest, snapshot: Snapshot, params: Params): string {
  if (rank === undefined) return 'true';
  if (rank.vector === undefined) return `d.doc = any(${params.add(rank.known?.docs ?? [], 'int8[]')})`;
  const near =
    rank.maxDistance === undefined
      ? ''
      : `and ${distanceTo(rank, params)} <= ${params.add(rank.maxDistance, 'float8')}`;
  const known = snapshot.near === undefined ? '' : `d.doc = any(${params.add(snapshot.near.docs, 'int8[]')}) and `;
  return `${known}exists (select from ${rankedTable(rank, snapshot)} v where v.doc = d.doc ${near})`;
}
