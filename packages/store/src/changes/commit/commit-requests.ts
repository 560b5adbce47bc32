import { AkinError } from '@akin/domain';
import { goneError } from '../../database/collections/swap.ts';
import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';

/**
 * Time limit without any progress. A fail-over takes up to ten seconds, and the first piece of a commit also takes
 * time.
 */
const LONGEST_WAIT = 60_000;
/** Poll interval in milliseconds. A notification ends the wait earlier. */
const POLL = 500;

/**
 * Asks the process with the lease of a collection for a commit, and waits for the end of one that began after this
 * call.
 *
 * @throws AkinError unavailable if no process commits; the changes are accepted anyway
 */
export async function requestCommit(store: Store, collection: Collection): Promise<void> {
  const [request] = await store.engine.query<{ requested: bigint }>(
    `insert into akin.commit_requests as r (collection, requested) select id, 1 from akin.collections where id = $1
     on conflict (collection) do update set requested = r.requested + 1 returning requested`,
    [collection.id],
  );
  if (request === undefined) throw goneError(collection);
  const { events } = store;
  events.notify(collection.id);
  let seen = '';
  for (let deadline = performance.now() + LONGEST_WAIT; performance.now() < deadline; ) {
    const changed = events.changed(collection.id, POLL);
    const [row] = await store.engine.query<{ done: boolean; progress: string }>(
      `select r.completed >= $2 as done, c.commit || ' ' || c.unpublished_operations as progress
         from akin.commit_requests r join akin.collections c on c.id = r.collection where r.collection = $1`,
      [collection.id, request.requested],
    );
    if (row === undefined) throw goneError(collection);
    if (row.done) return;
    // A commit of very many changes takes time. As long as it makes progress, there is a process that commits.
    if (row.progress !== seen) deadline = performance.now() + LONGEST_WAIT;
    seen = row.progress;
    await changed;
  }
  throw new AkinError(
    'unavailable',
    'The changes are accepted, but no indexer has made them visible so far: they will be as soon as one does.',
  );
}

/** The number of the last open request of each collection, by id. */
export async function requestedCommits(store: Store): Promise<Map<number, bigint>> {
  const rows = await store.engine.query<{ collection: number; requested: bigint }>(
    'select collection, requested from akin.commit_requests where requested > completed',
  );
  return new Map(rows.map(({ collection, requested }) => [collection, requested]));
}

/** Completes all requests up to a number, after a commit that began later has ended. */
export async function completeCommitRequests(store: Store, collection: Collection, requested: bigint): Promise<void> {
  await store.engine.query(
    'update akin.commit_requests set completed = greatest(completed, $2) where collection = $1',
    [collection.id, requested],
  );
  store.events.notify(collection.id);
}
