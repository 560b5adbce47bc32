import type { Query } from '@akin/domain';
import type { SearchRequest } from './request.ts';

export interface CountedFacet {
  /** Its position in the request. */
  readonly index: number;
  /** The queries that its documents must match. The last one is that of the facet. */
  readonly queries: readonly [...Query[], Query];
}

/** The bitmaps of more facets would evict those of other searches. */
const MAX_COUNTED = 50;

/**
 * The facets that can be counted with filters in memory. The database counts queries that must not be cached, which is
 * cheaper.
 */
export function countedFacets({
  query,
  filters = [],
  facets = [],
  collapse = false,
  collapseBy,
  uncached,
}: SearchRequest): CountedFacet[] {
  const counted = facets.flatMap((facet, index) => (facet.kind === 'query' ? [{ ...facet, index }] : []));
  // The heads of groups are not a filter in memory.
  if (counted.length > MAX_COUNTED || collapseBy?.query !== undefined) return [];
  return counted.flatMap(({ query: last, excludedQueries, index }) => {
    // Without some of the filters, other documents are collapsed.
    if (uncached?.has(last) || (collapse && excludedQueries?.size)) return [];
    return [{ index, queries: [...[query, ...filters].filter((one) => !excludedQueries?.has(one)), last] as const }];
  });
}
