import type { FacetResult } from './facet-request.ts';
import type { CompileContext } from './field-clauses.ts';

export interface MatchedDocuments {
  /** A common table expression that `from` refers to, or empty. */
  readonly with: string;
  /** A source of rows `d` of `documents`. */
  readonly from: string;
  readonly where: string;
  /** Whether all documents of the commit match. */
  readonly matchesAll: boolean;
}

export interface CountRow {
  readonly facet: number;
  /** The kind of the count: `value`, `missing`, `match` or `range`; or the name of a figure. */
  readonly part: string;
  /** The value as text, or the number of a range. */
  readonly key: string | null;
  readonly n: bigint;
  readonly position: bigint;
}

export interface FacetPlan {
  /** The conditions whose documents are counted, all in one pass. */
  readonly conditions: (context: CompileContext) => readonly { readonly part: string; readonly condition: string }[];
  /** A `select` of rows (part, key, n, position). Undefined if the conditions are enough. */
  readonly select?: (matched: MatchedDocuments, context: CompileContext, zeros: boolean) => string;
  /** Whether values with the count 0 are needed to fill the list. @param rows number of values with a higher count */
  readonly needsZeros: (rows: number) => boolean;
  readonly result: (rows: readonly CountRow[]) => FacetResult;
}
