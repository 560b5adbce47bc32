import type { Distance, Query, StoredDocument } from '@akin/domain';
import type { FacetRequest, FacetResult } from './facet-request.ts';
import type { SortClause } from './sort.ts';

export interface SearchRequest {
  readonly query: Query;
  /** All must match; they do not score. */
  readonly filters?: readonly Query[];
  /** Filters, and queries of facets, that are not remembered for further searches. */
  readonly uncached?: ReadonlySet<Query>;
  readonly rank?: Rank | undefined;
  /** By score, highest first, if empty; always ends with the id, ascending. */
  readonly sort?: readonly SortClause[];
  /** Documents to pass over. */
  readonly start?: number;
  /** Documents of the page. */
  readonly rows: number;
  /** `*` begins, then the mark of the answer before; instead of `start`. */
  readonly cursorMark?: string | undefined;
  /** Names of fields to return, `*` for all that are returned by default; see `selectFields`. */
  readonly fields?: readonly string[];
  /** Distances to return with each hit. */
  readonly distances?: readonly Distance[];
  /** Whether one document of each group of near-duplicates is shown; not with a cursorMark. */
  readonly collapse?: boolean;
  /** Whether an unranked search whose order does not need scores gives them all the same. */
  readonly scores?: boolean;
  /** What to count by, over all documents that match. */
  readonly facets?: readonly FacetRequest[];
  /** Milliseconds after which the answer is cut; never with a cursorMark. */
  readonly timeAllowed?: number | undefined;
  /** Matches up to which `numFound` is exact; all when undefined. */
  readonly minExactCount?: number | undefined;
  /** What NOW means in date math, and the IANA zone in which it rounds. */
  readonly now?: Date;
  readonly timeZone?: string;
}

/** A search as a client asks for it. */
export interface SearchQuestion extends Omit<SearchRequest, 'rank'> {
  /** A function where documents of the collection say what is ranked by. */
  readonly rank?: Rank | RankByDocuments | undefined;
  /** A commit that the answer must show, or a later one, which need not be the last; undefined: the last one. */
  readonly atLeast?: bigint | undefined;
  /** Ends what is asked of other processes when nobody waits for the answer. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes the rank out of descriptors of the very commit that answers: a document that is replaced meanwhile is not
 * compared with what it was before.
 *
 * @param stored the descriptor of a document by its id; null when it has none of that module, undefined when there is no
 *   such document
 */
export type RankByDocuments = (
  stored: (id: string, module: string) => Promise<Float32Array | null | undefined>,
) => Promise<Rank>;

/** Order by likeness. Only documents that have the module's descriptor match. */
export interface Rank {
  readonly module: string;
  /** Unit length, as many numbers as the module's descriptor has. */
  readonly vector: Float32Array;
  /** L2 distance above which a document does not match. */
  readonly maxDistance?: number | undefined;
  /** This document stands first among those at the same distance. */
  readonly firstId?: string | undefined;
  /** How many codes of a large collection are compared closely: `off` is all, so that the answer is exact. `low` when not given. */
  readonly smartfilter?: Smartfilter | undefined;
}

/** From all codes to ever fewer. */
export type Smartfilter = 'off' | 'low' | 'medium' | 'high';

/** How a ranked answer came about. */
export interface Ranking {
  /** Whether the page holds what comparing every match would give; otherwise some of it may be missing. */
  readonly exact: boolean;
  /** How many descriptors were compared for the page, those of documents that do not match included. */
  readonly distances: number;
  /** Whether the searcher found the candidates; else the database compared every match. */
  readonly inMemory: boolean;
}

export interface SearchResult {
  /** The number of the commit that answered. */
  readonly commit: number;
  /** Name of the collection and version of its fields; both may differ from what the caller knew. */
  readonly collection: { readonly name: string; readonly schemaVersion: number };
  /** Every document that matches query, filters and `maxDistance`. */
  readonly numFound: number;
  /** False: numFound is a lower bound. */
  readonly numFoundExact: boolean;
  /** Whether `timeAllowed` cut the answer: hits, counts or facets are missing. */
  readonly partial: boolean;
  /** Unranked, where scores are given: the highest of all matches. */
  readonly maxScore?: number;
  /** Ranked: the least of all matches. Missing when nothing matches. */
  readonly minDistance?: number;
  readonly hits: readonly SearchHit[];
  /** Of ranked searches whose page was not cut. */
  readonly ranking?: Ranking;
  readonly nextCursorMark?: string;
  /** As many as were asked for, in their order; none when they were cut. */
  readonly facets: readonly FacetResult[];
}

interface SearchHit {
  readonly id: string;
  /** Ranked searches. 0 to 2. */
  readonly distance?: number;
  /** Unranked searches that score. */
  readonly score?: number;
  /** With `collapse`: how many near-duplicates that match it stands for. */
  readonly collapsed?: number;
  readonly document: StoredDocument;
  /** Kilometers to each of the places that were asked for; null where the document has none. */
  readonly distances: readonly (number | null)[];
}

const BY_SCORE: readonly SortClause[] = [{ name: 'score', direction: 'desc' }];

/** By falling score when nothing else is asked for. */
export function sortOf({ sort }: SearchRequest): readonly SortClause[] {
  return sort === undefined || sort.length === 0 ? BY_SCORE : sort;
}

/** Whether the rows of a page carry scores or distances. */
export function isValued(request: SearchRequest): boolean {
  return request.rank !== undefined || request.scores === true || sortOf(request).some(({ name }) => name === 'score');
}

/** Whether one id is asked for, so that no more than one document matches. */
export function isOfOneDocument({ query, filters = [] }: SearchRequest): boolean {
  return [query, ...filters].some((one) => one.kind === 'term' && one.field === 'id');
}
