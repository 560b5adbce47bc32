import type { CollectionSummary, Key } from '@akin/client';

/** Collections and keys, if the page shows them. */
export interface Managed {
  /** Null until the first response. */
  readonly collections: readonly CollectionSummary[] | null;
  /** Null if the page's key does not allow to list them. */
  readonly keys: readonly Key[] | null;
  /** A new key: displayed only once. */
  readonly made: string | null;
  /** The current collection, and the number of the demo's pictures in it. */
  readonly of: string;
  readonly demo: number;
}

export const NOTHING_MANAGED: Managed = { collections: null, keys: null, made: null, demo: 0, of: '' };
