/** Which rows are looked at, by filters that are held. */
export interface Restriction {
  /** Rows must have all of them. */
  readonly filters: readonly number[];
  /** Rows must have none of them. */
  readonly excluded?: readonly number[] | undefined;
}

/** A search among the rows that a commit sees. */
export interface VectorQuery extends Restriction {
  readonly commit: number;
  readonly module: string;
  readonly vector: Float32Array;
  /** How many are wanted; ignored where `maxDistance` is given, which wants all within. */
  readonly wanted: number;
  readonly maxDistance?: number | undefined;
  /** Up to this many matches are compared by bounds, so that nothing can be missed; all of them if Infinity. */
  readonly exactRows: number;
  /** More candidates are of no use. */
  readonly mostCandidates: number;
  /** Otherwise this many are compared by levels, and up to 20 times as many where they crowd around the query. */
  readonly leastCompared: number;
}

/** Candidates that an answer by estimates hands on, and how many more than are wanted. */
const LEAST_HANDED_ON = 50;
const SPARE = 30;

/** How many candidates an answer by estimates hands on. */
export function handedOn(wanted: number): number {
  return Math.max(LEAST_HANDED_ON, wanted + SPARE, Math.ceil(1.2 * wanted));
}

/** Counts of the rows that a commit sees, with a vector of a module: one for each restriction. */
export interface CountQuery {
  readonly commit: number;
  readonly module: string;
  readonly restrictions: readonly Restriction[];
}

/** Documents that contain the answer; exact distances decide which of them are in it. */
export interface Candidates {
  /** How many rows match the filters and have a vector of the module. */
  readonly matches: number;
  /** Whether the answer cannot be elsewhere. */
  readonly isExact: boolean;
  /** How many vectors were compared. */
  readonly compared: number;
  /** Whether there are more than were asked for; then none are returned. */
  readonly areTooMany: boolean;
  readonly docs: Float64Array;
  /** Of each: least, likeliest and greatest squared distance. */
  readonly low: Float32Array;
  readonly likely: Float32Array;
  readonly high: Float32Array;
}
