import type { FieldValue, Query } from '@akin/domain';
import type { Distinct } from '@akin/searcher';
import type { ReadDocument } from './hydrate.ts';
import type { SortClause } from './sort.ts';

/** Shows one document for each value of a field. */
export interface FieldCollapse {
  readonly field: string;
  /** What documents without a value are. */
  readonly missing: Distinct['missing'];
  /**
   * The order whose first document represents its group. Undefined: by score (the nearest, if ranked), then in the
   * order of the search.
   */
  readonly order?: readonly SortClause[] | undefined;
  /** Facets that exclude this query count all matches. Undefined: all facets do. */
  readonly query?: Query | undefined;
  /** Names the parameter in errors. */
  readonly parameter: string;
}

/** The documents of the groups on a page. */
export interface MemberRequest {
  /** Number of documents of a group to return, and to skip. */
  readonly limit: number;
  readonly offset: number;
  readonly sort: readonly SortClause[];
  readonly withoutHeads: boolean;
}

export interface FoundGroup {
  /** Undefined for documents without a value. */
  readonly value: FieldValue | undefined;
  /** Number of its members. */
  readonly total: number;
  /** The score or distance of the best of its members, as of hits. */
  readonly score?: number;
  readonly distance?: number;
  readonly members: readonly Member[];
}

interface Member extends ReadDocument {
  readonly id: string;
  readonly score?: number;
  readonly distance?: number;
}
