import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { createCollection, dropCollection } from '../src/collections/collections.ts';
import type { Collection, Store } from '../src/context.ts';
import { type EngineKind, openTestStore, type TestPlace, testPlace } from './support.ts';

/** What a test works with. */
interface Place {
  readonly store: Store;
  readonly collection: Collection;
}

/**
 * To be called in a `describe`: all its tests have one store, and each an empty collection.
 *
 * @param take is given both before each test, and after `reopen`, which opens the store as a later process would
 */
export function freshCollections(kind: EngineKind, take: (place: Place) => void): { reopen: () => Promise<void> } {
  let place: TestPlace;
  let removePlace: () => Promise<void>;
  let store: Store;
  let collection: Collection;
  let number = 0;

  beforeAll(async () => {
    ({ place, remove: removePlace } = await testPlace(kind));
    store = await openTestStore(place);
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await removePlace?.();
  });
  beforeEach(async () => {
    if (collection !== undefined) await dropCollection(store, collection);
    collection = await createCollection(store, `test-${++number}`);
    take({ store, collection });
  });

  return {
    async reopen() {
      await store[Symbol.asyncDispose]();
      store = await openTestStore(place);
      take({ store, collection });
    },
  };
}
