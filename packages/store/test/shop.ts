import { afterAll, beforeAll } from '@jest/globals';
import { type Collection, createCollection } from '../src/collections.ts';
import { commit } from '../src/commit.ts';
import type { Store } from '../src/store.ts';
import { accept, type EngineKind, openTestStore, testPlace } from './support.ts';

type Documents = Parameters<typeof accept>[2];

/** What a test works with. */
export interface Shop {
  readonly store: Store;
  readonly collection: Collection;
}

/**
 * To be called in a `describe`: all its tests read one collection of these documents. It also has rows that no search may
 * see: the document `gone` is deleted, and `later` is not committed.
 *
 * @param take is given the collection before the first test
 */
export function shopOf(
  kind: EngineKind,
  { documents, gone, later }: Readonly<Record<'documents' | 'gone' | 'later', Documents>>,
  take: (shop: Shop) => void,
): void {
  let store: Store;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const made = await testPlace(kind);
    remove = made.remove;
    store = await openTestStore(made.place);
    const collection = await createCollection(store, 'shop');
    await accept(store, collection, documents);
    await commit(store, collection);
    await accept(store, collection, gone);
    await commit(store, collection);
    await accept(store, collection, [{ kind: 'delete', id: 'gone' }]);
    await commit(store, collection);
    await accept(store, collection, later);
    take({ store, collection });
  });

  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });
}
