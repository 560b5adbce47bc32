import type { Bits } from './bits.ts';

/** Restricts a search to rows by filters that are loaded. */
export interface Restriction {
  /** A row must match all of these. */
  readonly filters: readonly number[];
  /** A row must match none of these. */
  readonly excluded?: readonly number[] | undefined;
}

/** Only the nearest row for each value of a column is wanted. */
export interface Distinct {
  readonly column: number;
  /** Rows without a value are left out, or are a group each, or are one group. */
  readonly missing: 'leave-out' | 'each' | 'together';
}

/** A search among the rows that a commit sees. */
export interface VectorQuery extends Restriction {
  readonly commit: number;
  readonly module: string;
  readonly vector: Float32Array;
  /** How many rows are wanted. Ignored if `maxDistance` is given: then all rows within it are wanted. */
  readonly k: number;
  readonly maxDistance?: number | undefined;
  /**
   * Up to this many matches are compared by bounds. No result is missed then, unless the bounds leave so many rows that
   * estimates choose among them. Infinity: all matches, and no estimates.
   */
  readonly exactRows: number;
  /** Maximum number of candidates: more would not be used. */
  readonly maxCandidates: number;
  /**
   * With more matches than `exactRows`, at least this many rows are compared by levels; then only those whose signs do
   * not show that they are farther than the wanted rows so far.
   */
  readonly minCompared: number;
  /** Then `k` counts groups. Ignored if `maxDistance` is given. */
  readonly distinct?: Distinct | undefined;
}

/** A search for the head of each group: its first row in an order by columns, in which no two rows are equal. */
export interface HeadsQuery extends Restriction {
  readonly commit: number;
  /** Only rows with a vector of this module. Undefined: all. */
  readonly module?: string | undefined;
  readonly distinct: Distinct;
  readonly keys: readonly OrderKey[];
  /** How many of the keys, from the first on, decide which row is the head. */
  readonly deciding: number;
}

/** The first heads in the order of the keys from number `from` on. */
export interface HeadsPage {
  readonly from: number;
  readonly wanted: number;
  /** Only heads behind these ascending places, one for each of those keys; LAST_PLACE for no value. */
  readonly after?: readonly number[] | undefined;
}

/** One column of an order. Rows without a value are last. */
export interface OrderKey {
  readonly column: number;
  /** The place of each value in ascending order, by its ordinal, in memory that threads share. */
  readonly places: Uint32Array;
  readonly isDescending: boolean;
}

/** The place of rows without a value. */
export const LAST_PLACE = 0xffff_ffff;

/** All heads, in any order, with their places by each key. */
export interface Heads {
  /** How many rows match. */
  readonly matches: number;
  readonly docs: Float64Array;
  readonly places: readonly Uint32Array[];
}

/** The heads in a part of a collection. */
export interface PartHeads extends Heads {
  /** A head with a negative number is a group by itself. */
  readonly groups: Int32Array;
}

/** Minimum number of candidates that each part of a collection returns. It also returns some more than are wanted. */
const MIN_CANDIDATES_PER_PART = 50;
const SPARE = 30;

/** How many candidates each part of a collection returns for an approximate result. */
export function candidateCount(wanted: number): number {
  return Math.max(MIN_CANDIDATES_PER_PART, wanted + SPARE, Math.ceil(1.2 * wanted));
}

/** Counts the rows that a commit sees and that have a vector of a module, once for each restriction. */
export interface CountQuery {
  readonly commit: number;
  readonly module: string;
  readonly restrictions: readonly Restriction[];
}

/** Documents that include the result. Their exact distances decide. */
export interface Candidates {
  /** How many rows match the filters and have a vector of the module. */
  readonly matches: number;
  /** Whether the candidates are guaranteed to contain the result. */
  readonly isExact: boolean;
  /** How many vectors were compared. */
  readonly compared: number;
  /** Whether there are more candidates than `maxCandidates`; then none are returned. */
  readonly isOverLimit: boolean;
  readonly docs: Float64Array;
  /** For each candidate: lower bound, estimate and upper bound of the squared distance. */
  readonly low: Float32Array;
  readonly estimate: Float32Array;
  readonly high: Float32Array;
  /** With `distinct`: the group of each candidate, as a number. Those of the nearest groups include their nearest row. */
  readonly groups?: Float64Array;
  /** With `distinct`: how many groups match. */
  readonly groupCount?: number;
}

/** The groups that match in a part of a collection. */
export interface FoundGroups {
  /** A bit for each ordinal of a value that a row has. */
  readonly values: Bits;
  readonly withoutValue: number;
}

export interface PartCandidates extends Candidates {
  /** With `distinct`: the groups that match. */
  readonly found?: FoundGroups;
}

/** A search for pictures that have a part in common with another one. */
export interface PointQuery extends Restriction {
  readonly commit: number;
  readonly module: string;
  /** As the module parts writes them. */
  readonly points: Uint8Array;
}

/** So many candidates are found by the points of a picture, and as many by those of its mirror image. */
export const PART_CANDIDATES = 40;

/** A document that may have a part in common with the query. */
export interface PointCandidate {
  readonly doc: number;
  readonly isMirrored: boolean;
  /** How many points agree in their places, times the votes. */
  readonly support: number;
}

/** Pairs of a picture and a candidate that are checked. */
export interface PartQuery {
  /** As the module parts writes them. */
  readonly points: Uint8Array;
  readonly candidates: readonly { readonly isMirrored: boolean; readonly points: Uint8Array }[];
}
