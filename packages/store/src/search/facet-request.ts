import type { FieldValue, Query } from '@akin/domain';
import type { RangeBounds, RangeInclude, RangeOther } from './facet-ranges.ts';

/** A facet over the documents of a search. */
export type FacetRequest = {
  /**
   * Queries and filters of the search that this facet ignores, so that users see alternatives to them. They are
   * compared by identity.
   */
  readonly excludedQueries?: ReadonlySet<Query>;
} & (FieldFacet | QueryFacet | RangeFacet | StatsFacet);

/** The values of a field. */
export interface FieldFacet {
  readonly kind: 'field';
  readonly field: string;
  /** What names the field in a request, for errors. Default: `facet.field`. */
  readonly parameter?: string;
  /** Number of values to return. Undefined: all. */
  readonly limit: number | undefined;
  readonly offset: number;
  /** With 0, also values that only other documents have. */
  readonly mincount: number;
  /** By falling count, by value, or in the order of `only`. */
  readonly sort: 'count' | 'index' | 'listed';
  readonly prefix?: string | undefined;
  readonly contains?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Exactly these values, even without documents: limit and mincount have no effect. For String fields. */
  readonly only?: readonly string[] | undefined;
  /** Values to leave out. For String fields. */
  readonly except?: readonly string[] | undefined;
  /** Whether to count the documents without a value. */
  readonly missing: boolean;
}

/** The documents that also match another query. */
export interface QueryFacet {
  readonly kind: 'query';
  readonly query: Query;
}

/** The documents in each of several ranges of a number or date. */
export interface RangeFacet extends RangeBounds {
  readonly kind: 'range';
  readonly field: string;
  readonly mincount: number;
  readonly include: ReadonlySet<RangeInclude>;
  readonly other: ReadonlySet<RangeOther>;
}

/** The figures of a field with values that can be compared. */
export interface StatsFacet {
  readonly kind: 'stats';
  readonly field: string;
}

/** Of all values, also of those in lists. */
interface Stats {
  /** Undefined if there are no values. */
  readonly min: FieldValue | undefined;
  readonly max: FieldValue | undefined;
  /** Number of values. */
  readonly count: number;
  /** Number of documents without a value. */
  readonly missing: number;
  /**
   * Of numbers. Integers are summed exactly. Undefined if a Double is beyond 1e140: sums would be beyond the range.
   */
  readonly sum?: bigint | number | undefined;
  /** Undefined also if there are no values. */
  readonly mean?: number | undefined;
  /** Of a sample: divided by count - 1, as Solr does. */
  readonly stddev?: number | undefined;
}

export interface ValueCount {
  readonly value: FieldValue;
  readonly count: number;
}

export type FacetResult =
  | {
      readonly kind: 'field';
      readonly counts: readonly ValueCount[];
      readonly missing?: number;
      /** Values with the count 0 were requested, but numbers and dates have none, as in Solr. */
      readonly withoutZeros?: true;
    }
  | { readonly kind: 'query'; readonly count: number }
  | ({ readonly kind: 'stats' } & Stats)
  | {
      readonly kind: 'range';
      /** One for each range. Its value is the lower edge. */
      readonly counts: readonly ValueCount[];
      readonly start: FieldValue;
      readonly end: FieldValue;
      readonly gap: FieldValue;
      readonly before?: number;
      readonly after?: number;
      readonly between?: number;
    };
