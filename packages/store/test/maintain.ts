import type { Store } from '../src/changes/context.ts';
import { listCollections } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';
import { dropReplaced } from '../src/maintenance/drop-collection.ts';
import { maintainCollection } from '../src/maintenance/maintain.ts';

/** What the indexer does every few seconds. */
export async function maintain(store: Store, collections?: readonly Collection[]): Promise<void> {
  await dropReplaced(store);
  for (const collection of collections ?? (await listCollections(store))) await maintainCollection(store, collection);
}
