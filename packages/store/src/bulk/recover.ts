import { finishRequests, removeRequest } from '../accept/requests.ts';
import { requeueStuck } from '../analyze/analysis.ts';
import { listCollections } from '../collections/collections.ts';
import { BEFORE_ALL } from '../commit/ready-operations.ts';
import type { Collection, Store } from '../context.ts';

const PAGE = 1000;

/**
 * Takes up what a process left that ended anyhow; nobody else may be at work. Requests that were never accepted go,
 * analyses that nobody does any more are queued again. Nothing is to be done about a commit that was cut off: each of
 * its chunks was a transaction of its own, all of it is still unseen, and the next commit continues where it ended and
 * publishes both under the number that it had.
 */
export async function recover(store: Store): Promise<void> {
  for (const collection of await listCollections(store)) {
    await sweepUnaccepted(store, collection, 0);
    await finishAll(store, collection);
  }
  await requeueStuck(store, 0);
}

/** Removes requests that are too old to be accepted. */
export async function sweepUnaccepted(
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

/** A kill between the last chunk of a commit and its end leaves requests open that have nothing left to do. */
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
