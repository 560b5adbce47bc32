import type { Query } from '@akin/domain';
import type { Candidates } from '@akin/searcher';
import type { NearQuery } from './near-query.ts';
import type { SearchRequest } from './request.ts';

/**
 * Finds candidates for one search, as of its commit: with the searcher of this process or with search nodes. If they
 * cannot, the database does it.
 */
export interface CandidateFinder extends Disposable {
  /** Whether it does not have the commit of the search, but may have the last one. */
  readonly isElsewhere: boolean;
  /** Whether it can answer for some shards while the database answers for the others. */
  readonly isInPart: boolean;
  /**
   * Candidates for the nearest documents that match a search.
   *
   * @param folded documents that are left out
   * @returns undefined if it cannot find them
   * @throws AkinError bad-request for an invalid query
   */
  nearest(request: SearchRequest, query: NearQuery, folded: readonly bigint[]): Promise<Candidates | undefined>;
  /** All documents within a distance, whether or not they match. @returns undefined if it cannot find them */
  within(query: NearQuery): Promise<Candidates | undefined>;
  /**
   * Number of documents that match each `facet.query` of a search for which it found the nearest. @returns by position
   * of the facet in the request; those that it cannot count are missing
   */
  facetCounts(request: SearchRequest): Promise<ReadonlyMap<number, number>>;
}

/** A count of a facet: the documents that match all of some queries. */
export interface CountedFacet {
  /** Its position in the request. */
  readonly index: number;
  /** The query of the facet is the last one. */
  readonly queries: readonly [...Query[], Query];
}

/** With more, the bitmaps would evict those of other searches. */
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
  return counted.flatMap(({ query: last, without, index }) => {
    // Without a filter other documents are folded.
    if (uncached?.has(last) || (collapse && without?.size)) return [];
    return [{ index, queries: [...[query, ...filters].filter((one) => !without?.has(one)), last] as const }];
  });
}
