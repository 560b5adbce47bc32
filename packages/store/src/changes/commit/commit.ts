import { inSpan } from '@akin/runtime';
import { loadSchema } from '../../database/collections/schema.ts';
import { goneError } from '../../database/collections/swap.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { statements } from '../../database/statements.ts';
import { visibleCommitsOf } from '../../search/snapshot.ts';
import type { CommitResult, Store } from '../context.ts';
import { applyReady } from './apply-ready.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import { publishDescriptorCounts } from './descriptor-counts.ts';
import { type Lease, requireLease } from './leases.ts';
import { requestPages } from './ready-operations.ts';
import { withdrawShards } from './shard-leases.ts';
import { applyWaitingDeletes } from './waiting-deletes.ts';

/**
 * Makes everything visible that was accepted before the call and is ready. An operation that cannot be applied fails
 * alone and stops nothing else. If there is nothing to do, the number stays. Calls during a commit share the next one.
 * Commits of different collections run in parallel, or share slots: see {@link FairSemaphore}.
 *
 * A commit that rejects (the database is unreachable, the process dies) loses nothing: the next one continues it.
 *
 * @param lease required if other processes share the store
 * @param signal interrupts the commit between two chunks
 * @throws AkinError conflict if the lease was lost on the way: nothing was published; the reason of the signal
 */
export async function commit(
  store: Store,
  collection: Collection,
  lease?: Lease,
  signal?: AbortSignal,
): Promise<CommitResult> {
  if (store.shared && lease === undefined) throw new Error('a commit in a shared store needs a lease');
  const { commits } = store;
  const current = commits.get(collection.id);
  if (current !== undefined) {
    const again = () => commit(store, collection, lease, signal);
    current.next ??= current.running.then(again, again);
    return current.next;
  }
  const running = runCommit(store, collection, lease, signal);
  commits.set(collection.id, { running });
  try {
    return await running;
  } finally {
    commits.delete(collection.id);
  }
}

async function runCommit(
  store: Store,
  collection: Collection,
  lease: Lease | undefined,
  signal: AbortSignal | undefined,
): Promise<CommitResult> {
  const slot = await store.commitSemaphore.acquire();
  try {
    signal?.throwIfAborted();
    return await commitInSlot({ store, collection, lease, signal, slot });
  } finally {
    slot.release();
  }
}

async function commitInSlot(work: Omit<CommitContext, 'schema' | 'target' | 'failures'>): Promise<CommitResult> {
  const { store, collection } = work;
  const [row] = await store.engine.query<CommitState>(
    `select commit, next_seq,
            exists (select from ${collection.sqlSchema}.barriers where skipped_ids is not null) as skipped,
            exists (select from akin.shard_leases where collection = $1) as offered
       from akin.collections where id = $1`,
    [collection.id],
  );
  if (row === undefined) throw goneError(collection);
  const failures = { count: 0 };
  const context = { ...work, schema: await loadSchema(store, collection), target: row.commit + 1n, failures };
  if (row.offered) await inCommit(context, (tx) => withdrawShards(tx, collection));
  const pages = requestPages(store, collection, row.next_seq);
  const first = await pages.next();
  // Most commits have nothing to do: they are not spans.
  if (first.done === true) return end(context, row);
  const attributes = { 'akin.collection': collection.name, 'akin.commit.number': Number(context.target) };
  return inSpan('commit', { attributes }, async (span) => {
    await applyReady(context, withFirst(first.value, pages), row.next_seq, span);
    const result = await statements('UPDATE collections', collection, () => end(context, row));
    span.set({ 'akin.commit.applied': result.applied, 'akin.commit.failed': result.failed });
    return result;
  });
}

async function* withFirst<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

interface CommitState {
  readonly commit: bigint;
  readonly next_seq: bigint;
  /** Whether deletes by query had to skip documents. */
  readonly skipped: boolean;
  /** Whether an interrupted commit has left shards. */
  readonly offered: boolean;
}

/** Publishes what this commit, or an interrupted one, has applied. */
async function end(context: CommitContext, { commit: before, next_seq, skipped }: CommitState): Promise<CommitResult> {
  const { store, collection, target } = context;
  if (skipped) await applyWaitingDeletes(context);
  const published = await publish(context, next_seq);
  const failed = context.failures.count;
  if (published > 0 || failed > 0) store.events.notify(collection.id);
  return { commit: Number(published > 0 ? target : before), applied: published, failed };
}

/**
 * If all changes below a number are finished, records that: then nobody searches for work in the collection. A retry
 * locks the same row: either its requests are unfinished here, or it clears the record afterwards.
 */
async function recordAllFinished(tx: Queryable, { id, sqlSchema: S }: Collection, bound: bigint): Promise<void> {
  await tx.query(
    `update akin.collections set settled_seq = $2
      where id = $1 and settled_seq is distinct from $2
        and not exists (select from ${S}.requests where not finished and first_seq is not null and first_seq < $2)`,
    [id, bound],
  );
}

/**
 * The moment of visibility.
 *
 * @param bound the commit was for changes below it
 * @returns the number of operations it published, including those of an earlier unpublished commit
 */
async function publish({ store, collection, target, lease }: CommitContext, bound: bigint): Promise<number> {
  const S = collection.sqlSchema;
  const published = await store.engine.transaction(async (tx) => {
    await requireLease(tx, collection, lease);
    const [row] = await tx.query<{ operations: bigint }>(
      `select unpublished_operations as operations from akin.collections where id = $1 for update`,
      [collection.id],
    );
    const operations = Number(row?.operations ?? 0);
    await recordAllFinished(tx, collection, bound);
    if (operations === 0) return 0;
    await tx.query(
      `update akin.collections set commit = $2, committed_at = now(), documents = documents + unpublished_documents,
              unpublished_documents = 0, bytes = bytes + unpublished_bytes, unpublished_bytes = 0,
              unpublished_operations = 0 where id = $1`,
      [collection.id, target],
    );
    await publishDescriptorCounts(tx, S);
    await tx.query(`insert into ${S}.commits (number) values ($1)`, [target]);
    return operations;
  });
  if (published > 0) visibleCommitsOf(store).delete(collection.id);
  return published;
}
