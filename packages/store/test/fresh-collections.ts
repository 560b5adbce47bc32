import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Store } from '../src/changes/context.ts';
import { createCollection } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';
import { dropCollection } from '../src/maintenance/drop-collection.ts';
import { type EngineKind, openTestStore, type TestLocation, testLocation } from './support.ts';

/** The context of a test. */
interface FreshCollection {
  readonly store: Store;
  readonly collection: Collection;
}

/**
 * Call this in a `describe`: all its tests share one store, and each gets an empty collection.
 *
 * @param take gets both before each test, and after `reopen`, which opens the store as a later process would
 */
export function freshCollections(
  kind: EngineKind,
  take: (fresh: FreshCollection) => void,
): { reopen: () => Promise<void> } {
  let location: TestLocation;
  let removeLocation: () => Promise<void>;
  let store: Store;
  let collection: Collection;
  let number = 0;

  beforeAll(async () => {
    ({ location, remove: removeLocation } = await testLocation(kind));
    store = await openTestStore(location);
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await removeLocation?.();
  });
  beforeEach(async () => {
    if (collection !== undefined) await dropCollection(store, collection);
    collection = await createCollection(store, `test-${++number}`);
    take({ store, collection });
  });

  return {
    async reopen() {
      await store[Symbol.asyncDispose]();
      store = await openTestStore(location);
      take({ store, collection });
    },
  };
}
