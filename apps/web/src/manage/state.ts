import type { CollectionSummary, ContentModel, Key, Reindex } from '@akin/client';

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
  readonly models: readonly ContentModel[];
  /** The model of collections that are created on this page; null: the default one of akin. */
  readonly newModel: string | null;
  readonly refusal: string | undefined;
  /** How the current collection is being analyzed again; null if it never was. */
  readonly reindex: Reindex | null;
}

export const EMPTY_MANAGE_STATE: ManageState = {
  collections: null,
  keys: null,
  newKey: null,
  demo: 0,
  demoCollection: '',
  models: [],
  newModel: null,
  refusal: undefined,
  reindex: null,
};
