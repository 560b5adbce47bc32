import { removeRequest } from '../changes/accept/requests.ts';
import { requeueAll } from '../changes/analyze/analysis.ts';
import type { Store } from '../changes/context.ts';
import { collectionStates, listCollections } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';

/**
 * Cleans up after a process that ended in any way. No other process may be working. Removes requests that were never
 * accepted, and queues abandoned analyses again. An interrupted commit needs nothing: each of its chunks was a separate
 * transaction, all of it is still invisible, and the next commit continues where it ended, finishes its requests and
 * publishes both under the same number.
 */
export async function recover(store: Store): Promise<void> {
  for (const collection of await listCollections(store)) await deleteUnaccepted(store, collection, 0);
  for (const { collection } of await collectionStates(store, 'open')) await requeueAll(store, collection);
}

/** Removes requests that were begun at least so long ago and were never accepted, with their rows. */
export async function deleteUnaccepted(
  store: Store,
  collection: Collection,
  olderThanMilliseconds: number,
): Promise<void> {
  const rows = await store.engine.query<{ request: bigint }>(
    `select request from ${collection.sqlSchema}.requests
      where first_seq is null and created_at <= now() - $1 * interval '1 millisecond'`,
    [olderThanMilliseconds],
  );
  for (const { request } of rows) await removeRequest(store, collection, request);
}
