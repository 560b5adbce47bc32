import type { FieldValue, Query } from '@akin/domain';
import type { RangeBounds, RangeCounts, RangeInclude, RangeOther } from './facet-ranges.ts';

/** Something to count by, over the documents of a search. */
export type FacetRequest = {
  /** The search's own query and filters, as it was given them, that do not count here: what a person may still choose. */
  readonly without?: ReadonlySet<Query>;
} & (FieldFacet | QueryFacet | RangeFacet);

/** The values of a field. */
export interface FieldFacet {
  readonly kind: 'field';
  readonly field: string;
  /** Values to return; all when undefined. */
  readonly limit: number | undefined;
  readonly offset: number;
  /** 0 gives values too that other documents have. */
  readonly mincount: number;
  /** By falling count, by value, or in the order of `only`. */
  readonly sort: 'count' | 'index' | 'listed';
  readonly prefix?: string | undefined;
  readonly contains?: string | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Just these values, found or not, whatever limit and mincount say; for String fields. */
  readonly only?: readonly string[] | undefined;
  /** Not these; for String fields. */
  readonly except?: readonly string[] | undefined;
  /** Whether to count the documents without a value. */
  readonly missing: boolean;
}

/** The documents that match another query too. */
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

export interface ValueCount {
  readonly value: FieldValue;
  readonly count: number;
}

export type FacetResult =
  | {
      readonly kind: 'field';
      readonly counts: readonly ValueCount[];
      readonly missing?: number;
      /** Values with the count 0 were asked for, but numbers and dates have none, as in Solr. */
      readonly withoutZeros?: true;
    }
  | { readonly kind: 'query'; readonly count: number }
  | ({
      readonly kind: 'range';
      /** By the beginning of each range. */
      readonly counts: readonly ValueCount[];
      readonly start: FieldValue;
      readonly end: FieldValue;
      readonly gap: FieldValue;
    } & Omit<RangeCounts, 'counts'>);
