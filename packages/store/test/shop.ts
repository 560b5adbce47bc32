import { commit } from '../src/changes/commit/commit.ts';
import type { Store } from '../src/changes/context.ts';
import { createCollection } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';
import { sharedStore } from './shared-store.ts';
import { accept, type EngineKind } from './support.ts';

type Documents = Parameters<typeof accept>[2];

/** The context of a test. */
export interface Shop {
  readonly store: Store;
  readonly collection: Collection;
}

/**
 * Call this in a `describe`: all its tests read one collection of these documents. It also has rows that no search may
 * see: the document `gone` is deleted, and `later` is not committed.
 *
 * @param take gets the collection before the first test
 */
export function shopOf(
  kind: EngineKind,
  { documents, gone, later }: Readonly<Record<'documents' | 'gone' | 'later', Documents>>,
  take: (shop: Shop) => void,
): void {
  sharedStore(kind, async (store) => {
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
}
