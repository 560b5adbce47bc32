import { afterAll, beforeAll } from '@jest/globals';
import type { Store } from '../src/changes/context.ts';
import { type EngineKind, openTestStore, type TestLocation, testLocation } from './support.ts';

/**
 * Call this in a `describe`: all its tests share one store, which is closed and removed after them.
 *
 * @param prepare gets the store before the first test
 */
export function sharedStore(
  kind: EngineKind,
  prepare: (store: Store) => void | Promise<void>,
  open: (location: TestLocation) => Promise<Store> = (location) => openTestStore(location),
): void {
  let store: Store;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const made = await testLocation(kind);
    remove = made.remove;
    store = await open(made.location);
    await prepare(store);
  });

  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });
}
