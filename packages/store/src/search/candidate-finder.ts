import type { Query } from '@akin/domain';
import type { Candidates } from '@akin/searcher';
import type { NearQuery } from './near-query.ts';
import type { SearchRequest } from './request.ts';

/**
 * Finds candidates for one search, as of its commit: with the searcher of this process or with search nodes. If they
 * cannot, the database does it.
 */
export interface CandidateFinder extends Disposable {
  /** Whether it lacks the commit of the search. It may have the last one. */
  readonly lacksCommit: boolean;
  /** Whether it has some shards, so that the database must search only the others. */
  readonly hasSomeShards: boolean;
  /**
   * Candidates for the nearest documents that match a search.
   *
   * @param collapsed documents that are left out, because another one represents them
   * @returns undefined if it cannot find them
   * @throws AkinError bad-request for an invalid query
   */
  nearest(request: SearchRequest, query: NearQuery, collapsed: readonly bigint[]): Promise<Candidates | undefined>;
  /** All documents within a distance, whether or not they match. @returns undefined if it cannot find them */
  within(query: NearQuery): Promise<Candidates | undefined>;
  /**
   * Number of documents that match each `facet.query` of a search for which it found the nearest. @returns by position
   * of the facet in the request; those that it cannot count are missing
   */
  facetCounts(request: SearchRequest): Promise<ReadonlyMap<number, number>>;
}

/** A facet whose documents are counted. */
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
  uncached,
}: SearchRequest): CountedFacet[] {
  const counted = facets.flatMap((facet, index) => (facet.kind === 'query' ? [{ ...facet, index }] : []));
  if (counted.length > MAX_COUNTED) return [];
  return counted.flatMap(({ query: last, excludedQueries, index }) => {
    // Without some of the filters, other documents are collapsed.
    if (uncached?.has(last) || (collapse && excludedQueries?.size)) return [];
    return [{ index, queries: [...[query, ...filters].filter((one) => !excludedQueries?.has(one)), last] as const }];
  });
}
