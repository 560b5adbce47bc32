import type { CollectionSummary, Key } from '@akin/client';

/** Collections and keys, if the page shows them. */
export interface ManageState {
  /** Null until the first response. */
  readonly collections: readonly CollectionSummary[] | null;
  /** Null if the page's key does not allow to list them. */
  readonly keys: readonly Key[] | null;
  /** A new key: displayed only once. */
  readonly newKey: string | null;
  /** The current collection, and the number of the demo's pictures in it. */
  readonly demoCollection: string;
  readonly demo: number;
}

export const EMPTY_MANAGE_STATE: ManageState = {
  collections: null,
  keys: null,
  newKey: null,
  demo: 0,
  demoCollection: '',
};
