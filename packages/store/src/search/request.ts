import type { Distance, Query, StoredDocument } from '@akin/domain';
import type { FieldCollapse, FoundGroup, MemberRequest } from './collapse-request.ts';
import type { FacetRequest, FacetResult } from './facet-request.ts';
import type { SortClause } from './sort.ts';

export interface SearchRequest {
  readonly query: Query;
  /** All must match; they do not score. */
  readonly filters?: readonly Query[];
  /** Filters, and queries of facets, that are not cached for further searches. */
  readonly uncached?: ReadonlySet<Query>;
  readonly rank?: Rank | undefined;
  /** If empty: by score, highest first. Always ends with the id, ascending. */
  readonly sort?: readonly SortClause[];
  /** Number of documents to skip. */
  readonly start?: number;
  /** Number of documents on the page. */
  readonly rows: number;
  /** `*` for the first page, then the mark of the previous result; replaces `start`. */
  readonly cursorMark?: string | undefined;
  /** Names of fields to return, `*` for all that are returned by default; see `selectFields`. */
  readonly fields?: readonly string[];
  /** Distances to return with each hit. */
  readonly distances?: readonly Distance[];
  /** Whether one document of each group of near-duplicates is shown; not with a cursorMark. */
  readonly collapse?: boolean;
  readonly collapseBy?: FieldCollapse | undefined;
  /** Also return documents of the groups on the page; with `collapseBy`. */
  readonly members?: MemberRequest | undefined;
  /** Whether an unranked search whose order does not need scores gives them all the same one. */
  readonly scores?: boolean;
  /** Facets over all matching documents. */
  readonly facets?: readonly FacetRequest[];
  /** Milliseconds after which the result is partial; never with a cursorMark. */
  readonly timeAllowed?: number | undefined;
  /** Number of matches up to which `numFound` is exact. Undefined: all. */
  readonly minExactCount?: number | undefined;
  /** The value of NOW in date math, and the IANA zone in which it rounds. */
  readonly now?: Date;
  readonly timeZone?: string;
}

/** A search as a client asks for it. */
export interface SearchInput extends Omit<SearchRequest, 'rank'> {
  /** A function if documents of the collection are part of the query. */
  readonly rank?: Rank | RankByDocuments | undefined;
  /** The result must show this commit, or a later one, but not necessarily the last. Undefined: the last one. */
  readonly atLeast?: bigint | undefined;
  /** Aborts questions to other processes when the client no longer waits for the response. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Builds the rank from descriptors of the very commit of the result: a document that is being replaced is not compared
 * with its earlier version.
 *
 * @param stored the descriptor of a document by its id; null if it has none of that module, undefined if there is no
 * such document
 */
export type RankByDocuments = (
  stored: (id: string, module: string) => Promise<Float32Array | null | undefined>,
) => Promise<Rank>;

/** Order by similarity. Only documents with the module's descriptor match. */
export interface Rank {
  readonly module: string;
  /** Unit length, with the dimensions of the module's descriptor. Undefined: only the documents of `known` match. */
  readonly vector?: Float32Array | undefined;
  /** Distances that were found in another way: of two, the smaller one counts. */
  readonly known?: KnownDistances | undefined;
  /** L2 distance above which a document does not match. */
  readonly maxDistance?: number | undefined;
  /** This document comes first among those at the same distance. */
  readonly firstId?: string | undefined;
  /** Number of compared codes in a large collection: `off` is all, so that the result is exact. Default: `low`. */
  readonly smartfilter?: Smartfilter | undefined;
}

/** Numbers of documents, each once, and the distance of each. */
export interface KnownDistances {
  readonly docs: readonly bigint[];
  readonly distances: readonly number[];
}

/** From all codes to fewer and fewer. */
export type Smartfilter = 'off' | 'low' | 'medium' | 'high';

/** How a ranked result was found. */
export interface Ranking {
  /** Whether the page is the same as after comparing every match. Otherwise some documents may be missing. */
  readonly exact: boolean;
  /** Number of descriptors compared for the page, including those of documents that do not match. */
  readonly distances: number;
  /** Whether the searcher found the candidates. Otherwise the database compared every match. */
  readonly inMemory: boolean;
}

export interface SearchResult {
  readonly commit: number;
  /** Name of the collection and version of its fields. Both may differ from the values that the caller knew. */
  readonly collection: { readonly name: string; readonly schemaVersion: number };
  /** All documents that match query, filters and `maxDistance`. */
  readonly numFound: number;
  /** False: numFound is a lower bound. */
  readonly numFoundExact: boolean;
  /** Whether `timeAllowed` made the result partial: hits, counts or facets are missing. */
  readonly partial: boolean;
  /** Unranked with scores: the highest of all matches. */
  readonly maxScore?: number;
  /** Ranked: the least of all matches. Missing if nothing matches. */
  readonly minDistance?: number;
  readonly hits: readonly SearchHit[];
  /** Of ranked searches with a complete page. */
  readonly ranking?: Ranking;
  readonly nextCursorMark?: string;
  /** With `members`: the group of each hit. Empty if the result is partial. */
  readonly groups?: readonly FoundGroup[];
  /** With `members`: number of documents that match, shown or not. */
  readonly matches?: number;
  /** In the order of the request. Empty if the result is partial. */
  readonly facets: readonly FacetResult[];
}

interface SearchHit {
  readonly id: string;
  /** Ranked searches. 0 to 2. */
  readonly distance?: number;
  /** Unranked searches with scores. */
  readonly score?: number;
  /** With `collapse`: number of other matching near-duplicates that it represents. */
  readonly collapsed?: number;
  readonly document: StoredDocument;
  /** Kilometers to each of the requested points. Null if the document has no location. */
  readonly distances: readonly (number | null)[];
}

const BY_SCORE: readonly SortClause[] = [{ name: 'score', direction: 'desc' }];

/** Default: by falling score. */
export function sortOf({ sort }: SearchRequest): readonly SortClause[] {
  return sort === undefined || sort.length === 0 ? BY_SCORE : sort;
}

/** Whether the rows of a page have scores or distances. */
export function isValued(request: SearchRequest): boolean {
  return request.rank !== undefined || request.scores === true || sortOf(request).some(({ name }) => name === 'score');
}

/** Whether one id is requested, so that at most one document matches. */
export function isOfOneDocument({ query, filters = [] }: SearchRequest): boolean {
  return [query, ...filters].some((one) => one.kind === 'term' && one.field === 'id');
}
