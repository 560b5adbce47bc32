import { maintainCollection } from '../src/changes/bulk/maintain.ts';
import type { Store } from '../src/changes/context.ts';
import { dropReplaced } from '../src/changes/drop-collection.ts';
import { listCollections } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';

/** What the indexer does every few seconds. */
export async function maintain(store: Store, collections?: readonly Collection[]): Promise<void> {
  await dropReplaced(store);
  for (const collection of collections ?? (await listCollections(store))) await maintainCollection(store, collection);
}
