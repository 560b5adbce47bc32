import type { FoundGroup } from '@akin/client';
import type { Compared } from './compared.ts';

/** What the page knows of the groups of near-duplicates. */
export interface Review {
  readonly groups: readonly FoundGroup[];
  /** Null while nothing came yet. */
  readonly numFound: number | null;
  readonly numFoundExact: boolean;
  readonly threshold: number;
  /** The groups are right up to `asOfCommit`; the collection is at `commit`. */
  readonly commit: number;
  readonly asOfCommit: number;
  readonly nextCursor: string | undefined;
  /** Ids of documents to delete. */
  readonly chosen: ReadonlySet<string>;
  readonly deleting: boolean;
  /** Least score of the members that are shown; 0: all. */
  readonly least: number;
  /** The most groups that there were: those that are gone since are done. */
  readonly most: number;
  readonly compared: Compared | null;
}

export const NO_REVIEW: Review = {
  groups: [],
  numFound: null,
  numFoundExact: true,
  threshold: 0,
  commit: 0,
  asOfCommit: 0,
  nextCursor: undefined,
  chosen: new Set(),
  deleting: false,
  least: 0,
  most: 0,
  compared: null,
};

/** Members of a group that are listed at first. */
export const MEMBERS_SHOWN = 20;
