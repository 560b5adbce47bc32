/** A parsed query. Positions count UTF-16 units from 0 in the text that was parsed, for error messages. */
export type Query =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  /** `field:value`, a bare word, or a wildcard or fuzzy form of either. */
  | { readonly kind: 'term'; readonly field: string; readonly value: string; readonly position: number }
  | {
      readonly kind: 'phrase';
      readonly field: string;
      readonly value: string;
      readonly slop: number;
      readonly position: number;
    }
  | { readonly kind: 'prefix'; readonly field: string; readonly value: string; readonly position: number }
  /** `parts` are literal texts between wildcards: `*` any run, `?` one character. */
  | {
      readonly kind: 'wildcard';
      readonly field: string;
      readonly parts: readonly (string | { readonly any: '*' | '?' })[];
      readonly position: number;
    }
  | {
      readonly kind: 'fuzzy';
      readonly field: string;
      readonly value: string;
      readonly edits: 0 | 1 | 2;
      readonly position: number;
    }
  /** A missing bound (null) is `*`. */
  | {
      readonly kind: 'range';
      readonly field: string;
      readonly low: string | null;
      readonly high: string | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
      readonly position: number;
    }
  /** `field:*` */
  | { readonly kind: 'exists'; readonly field: string; readonly position: number }
  /** `must` all match, `mustNot` none; of `should` at least one where `must` is empty, else they add to the score. */
  | {
      readonly kind: 'bool';
      readonly must: readonly Query[];
      readonly should: readonly Query[];
      readonly mustNot: readonly Query[];
    }
  | { readonly kind: 'boost'; readonly query: Query; readonly factor: number }
  /** `^=`: a match scores `score` whatever is inside. */
  | { readonly kind: 'constant'; readonly query: Query; readonly score: number };
