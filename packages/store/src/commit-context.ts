import type { Collection } from './collections.ts';
import type { CollectionSchema } from './schema.ts';
import type { Store } from './store.ts';

/** What a commit works with. */
export interface CommitContext {
  readonly store: Store;
  readonly collection: Collection;
  readonly schema: CollectionSchema;
  /** The number that the commit will have: what it writes is visible from there on. */
  readonly target: bigint;
}
