import type { Distance } from './geodist.ts';
import type { Location } from './schema.ts';

/** What joins words that stand side by side without an operator between them. */
export type QueryOperator = 'AND' | 'OR';

/** A piece of a wildcard pattern: literal text, any run of characters (`*`), or exactly one character (`?`). */
export type WildcardPart = string | { readonly any: '*' | '?' };

/** The field of a clause. */
interface Named {
  readonly field: string;
  /** Where its name stands, if the query itself names it. */
  readonly fieldPosition?: number;
}

/**
 * A parsed query. Positions count characters (code points) from 0 in the text that was parsed, for error messages; what
 * stands in a query inside of it, as `v=` or in quotes, has the position of that. Whether a value fits its field is not
 * known here: a tree speaks of names and text alone.
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
  /** `{!words f=…}`: words of a string field, compared folded. The value knows no syntax. */
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
  /** A missing bound (null) is `*`. */
  | (Named & {
      readonly kind: 'range';
      readonly low: string | null;
      readonly high: string | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
      readonly position: number;
    })
  /** Documents so far away: kilometers, both bounds within. A missing bound (null) is none. */
  | {
      readonly kind: 'distance';
      readonly distance: Distance;
      readonly low: number | null;
      readonly high: number | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
      readonly position: number;
    }
  /** Documents in the smallest box of degrees around a circle with a radius in kilometers. */
  | {
      readonly kind: 'box';
      readonly field: string;
      readonly center: Location;
      readonly kilometers: number;
      readonly position: number;
    }
  /** Matches what `query` matches; the score is the distance, in units of a number of kilometers. */
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
   * `must` all match, `mustNot` none; of `should` at least one where `must` is empty, else they add to the score.
   * With neither `must` nor `should` it matches nothing (a query that only excludes gets `all` as its `must` at the
   * top, not inside groups, as in Solr).
   */
  | {
      readonly kind: 'bool';
      readonly must: readonly Query[];
      readonly should: readonly Query[];
      readonly mustNot: readonly Query[];
    }
  | { readonly kind: 'boost'; readonly query: Query; readonly factor: number }
  /** `^=`: a match scores `score` whatever is inside. */
  | { readonly kind: 'constant'; readonly query: Query; readonly score: number };
