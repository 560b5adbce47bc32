import type { Query } from '@akin/domain';
import type { Candidates } from '@akin/searcher';
import type { NearQuery } from './near-query.ts';
import type { SearchRequest } from './request.ts';

/**
 * Finds candidates for one search, as of its commit: by the searcher of this process or by search nodes. What they
 * cannot tell, the database can.
 */
export interface CandidateFinder extends Disposable {
  /** Whether it does not have the commit of the search, but may have the last one. */
  readonly isElsewhere: boolean;
  /** Whether it could tell of some shards, if the database told of the others. */
  readonly isInPart: boolean;
  /**
   * Candidates for the nearest documents that match a search.
   * @param folded documents that are left out
   * @returns undefined where it cannot tell
   * @throws AkinError bad-request for a query that cannot be
   */
  nearest(request: SearchRequest, query: NearQuery, folded: readonly bigint[]): Promise<Candidates | undefined>;
  /** All documents within a distance, whatever else they match. @returns undefined where it cannot tell */
  within(query: NearQuery): Promise<Candidates | undefined>;
  /**
   * How many documents match each `facet.query` of a search for which it found the nearest.
   * @returns by place of the facet in the request; those that it cannot count are missing
   */
  facetCounts(request: SearchRequest): Promise<ReadonlyMap<number, number>>;
}

/** What a facet counts: the documents that match all of some queries. */
export interface CountedFacet {
  /** Its place in the request. */
  readonly index: number;
  /** The query of the facet is the last. */
  readonly queries: readonly [...Query[], Query];
}

/** Of more facet.query the bitmaps would drive out those of other searches. */
const MOST_COUNTED = 50;

/** The facets that can be counted by filters in memory. What is not to be remembered is counted by the database at less cost. */
export function countedFacets({
  query,
  filters = [],
  facets = [],
  collapse = false,
  uncached,
}: SearchRequest): CountedFacet[] {
  const counted = facets.flatMap((facet, index) => (facet.kind === 'query' ? [{ ...facet, index }] : []));
  if (counted.length > MOST_COUNTED) return [];
  return counted.flatMap(({ query: last, without, index }) => {
    // Without a filter other documents are folded.
    if (uncached?.has(last) || (collapse && without?.size)) return [];
    return [{ index, queries: [...[query, ...filters].filter((one) => !without?.has(one)), last] as const }];
  });
}
