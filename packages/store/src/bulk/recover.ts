import { finishRequests, removeRequest } from '../accept/requests.ts';
import { requeueStuck } from '../analyze/analysis.ts';
import { listCollections } from '../collections/collections.ts';
import { BEFORE_ALL } from '../commit/ready-operations.ts';
import type { Collection, Store } from '../context.ts';

const PAGE = 1000;

/**
 * Cleans up after a process that ended in any way. No other process may be working. Removes requests that were never
 * accepted, and queues abandoned analyses again. An interrupted commit needs nothing: each of its chunks was a separate
 * transaction, all of it is still invisible, and the next commit continues where it ended and publishes both under the
 * same number.
 */
export async function recover(store: Store): Promise<void> {
  for (const collection of await listCollections(store)) {
    await deleteUnaccepted(store, collection, 0);
    await finishAll(store, collection);
  }
  await requeueStuck(store, 0);
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

/** Finishes requests without open operations: a kill between the last chunk of a commit and its end leaves some. */
async function finishAll(store: Store, collection: Collection): Promise<void> {
  let last = BEFORE_ALL;
  for (;;) {
    const rows = await store.engine.query<{ request: bigint; first_seq: bigint }>(
      `select request, first_seq from ${collection.sqlSchema}.requests
        where not finished and first_seq > $1 order by first_seq limit ${PAGE}`,
      [last],
    );
    const end = rows.at(-1);
    if (end === undefined) return;
    await store.engine.transaction(
      (tx) =>
        finishRequests(
          tx,
          collection,
          rows.map(({ request }) => request),
        ),
      { lane: 'bulk', keyed: true },
    );
    last = end.first_seq;
  }
}
