import type { HeldCollection } from '../searcher/held-collection.ts';
import type { FacetResult } from './facet-request.ts';
import type { HeldFilters } from './held-filters.ts';
import type { SearchRequest } from './request.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Counts `facet.query` by the filters that the searcher holds, for a search that it ranked.
 * @returns by place of the facet in the request; those that it cannot count are missing
 */
export async function countHeldFacets(
  held: HeldCollection,
  filters: HeldFilters,
  { query, filters: restricting = [], facets = [], rank, collapse = false }: SearchRequest,
  { commit }: Snapshot,
): Promise<ReadonlyMap<number, FacetResult>> {
  const results = new Map<number, FacetResult>();
  if (rank === undefined) return results;
  const counted = facets.flatMap((facet, index) =>
    // Without a filter other documents are folded.
    facet.kind === 'query' && filters.has(facet.query) && !(collapse && facet.without?.size) ? [{ facet, index }] : [],
  );
  if (counted.length === 0) return results;
  const restrictions = counted.map(({ facet }) => {
    const matched = [query, ...restricting].filter((one) => !facet.without?.has(one));
    return filters.of([...matched, facet.query]);
  });
  const counts = await held.count({
    commit: Number(commit),
    module: rank.module,
    restrictions,
  });
  for (const [i, { index }] of counted.entries()) {
    const count = counts?.[i];
    if (count !== undefined) results.set(index, { kind: 'query', count });
  }
  return results;
}
