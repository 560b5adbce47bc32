import type { FoundGroup, PartPair } from '@akin/client';
import type { Comparison } from './comparison.ts';

/** The groups of near-duplicates, as far as the page has loaded them. */
export interface Review {
  readonly groups: readonly FoundGroup[];
  /** Null until the first response. */
  readonly numFound: number | null;
  readonly numFoundExact: boolean;
  readonly threshold: number;
  /** The groups are up to date as of `asOfCommit`; the collection is at `commit`. */
  readonly commit: number;
  readonly asOfCommit: number;
  readonly nextCursor: string | undefined;
  readonly marked: ReadonlySet<string>;
  readonly deleting: boolean;
  /** Minimum score of the displayed members; 0: all. */
  readonly minScore: number;
  /** The maximum number of groups so far; the difference to the current number is the progress. */
  readonly maxNumFound: number;
  readonly comparison: Comparison | null;
  /** Parts of other pictures, as far as they are loaded. */
  readonly pairs: readonly PartPair[];
  readonly pairsFound: number;
  readonly nextPairs: string | undefined;
}

export const NO_REVIEW: Review = {
  groups: [],
  numFound: null,
  numFoundExact: true,
  threshold: 0,
  commit: 0,
  asOfCommit: 0,
  nextCursor: undefined,
  marked: new Set(),
  deleting: false,
  minScore: 0,
  maxNumFound: 0,
  comparison: null,
  pairs: [],
  pairsFound: 0,
  nextPairs: undefined,
};

export const MEMBERS_SHOWN = 20;
