import type { Params } from './params.ts';

/** The source of a statement, and the value of a match. Each has its own parameters: an unused one has no type. */
export interface MatchSource {
  readonly params: Params;
  readonly from: string;
  /** The score or distance: SQL, or one number for all. 0 if it is not needed. */
  readonly value: string | number;
  /** The condition of the matching values. */
  readonly inRange: string;
}
