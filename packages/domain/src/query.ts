import type { Distance } from './geodist.ts';
import type { Location } from './schema.ts';

/** The operator between adjacent words that have none. */
export type QueryOperator = 'AND' | 'OR';

/** A part of a wildcard pattern: literal text, any run of characters (`*`), or exactly one character (`?`). */
export type WildcardPart = string | { readonly any: '*' | '?' };

interface Named {
  readonly field: string;
  /** The position of the field name, if the query contains it. */
  readonly fieldPosition?: number;
}

/**
 * A parsed query. Positions are for error messages. They count characters (code points) from 0 in the parsed text;
 * everything inside a nested query (`v=` or in quotes) has the position of that query. The tree contains only names and
 * texts: the parser does not check whether a value fits its field.
 */
export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  /** `field:value` or a bare word. On the field `text` a value may hold several words, joined by `operator`. */
  | (Named & {
      readonly kind: 'term';
      readonly value: string;
      readonly operator: QueryOperator;
      readonly position: number;
    })
  | (Named & {
      readonly kind: 'phrase';
      readonly value: string;
      readonly slop: number;
      readonly position: number;
    })
  /** `{!words f=…}`: words of a string field, compared after case folding. The value is taken literally. */
  | {
      readonly kind: 'words';
      readonly field: string;
      readonly value: string;
      readonly operator: QueryOperator;
      readonly position: number;
    }
  | (Named & { readonly kind: 'prefix'; readonly value: string; readonly position: number })
  | (Named & {
      readonly kind: 'wildcard';
      readonly parts: readonly WildcardPart[];
      readonly position: number;
    })
  | (Named & {
      readonly kind: 'fuzzy';
      readonly value: string;
      readonly edits: 0 | 1 | 2;
      readonly position: number;
    })
  /** A bound of null is `*`. */
  | (Named & {
      readonly kind: 'range';
      readonly low: string | null;
      readonly high: string | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
      readonly position: number;
    })
  /** Documents within a range of distances in kilometers, bounds included. A bound of null means no limit. */
  | {
      readonly kind: 'distance';
      readonly distance: Distance;
      readonly low: number | null;
      readonly high: number | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
      readonly position: number;
    }
  /** Documents in the smallest box of degrees around a circle; its radius is in kilometers. */
  | {
      readonly kind: 'box';
      readonly field: string;
      readonly center: Location;
      readonly kilometers: number;
      readonly position: number;
    }
  /** Matches the same documents as `query`; the score is the distance, in units of a number of kilometers. */
  | {
      readonly kind: 'by-distance';
      readonly query: Query;
      readonly distance: Distance;
      readonly unit: number;
      readonly position: number;
    }
  /** `field:*` */
  | (Named & { readonly kind: 'exists'; readonly position: number })
  /**
   * All of `must` match and none of `mustNot`. If `must` is empty, at least one of `should` matches; otherwise `should`
   * only adds to the score. If `must` and `should` are empty, it matches nothing. As in Solr, a top-level query that
   * only excludes gets `all` as its `must`; a group does not.
   */
  | {
      readonly kind: 'bool';
      readonly must: readonly Query[];
      readonly should: readonly Query[];
      readonly mustNot: readonly Query[];
    }
  | { readonly kind: 'boost'; readonly query: Query; readonly factor: number }
  /** `^=`: every match has the score `score`. */
  | { readonly kind: 'constant'; readonly query: Query; readonly score: number };
