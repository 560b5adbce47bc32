import type { CollectionSummary, Key } from '@akin/client';

/** What the page knows of collections and keys, where it shows them. */
export interface Managed {
  /** Null while nothing came yet. */
  readonly collections: readonly CollectionSummary[] | null;
  /** Null where the key of this page may not see them. */
  readonly keys: readonly Key[] | null;
  /** A key that was just made: shown this once. */
  readonly made: string | null;
  /** The collection of the page, and how many pictures of the demo are in it. */
  readonly of: string;
  readonly demo: number;
}

export const NOTHING_MANAGED: Managed = { collections: null, keys: null, made: null, demo: 0, of: '' };
