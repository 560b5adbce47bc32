import { OPEN_STATES } from '../../database/collections/collection-tables.ts';
import { collectionOf } from '../../database/collections/collections.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { shardsOf } from '../../database/collections/shards.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import type { Store } from '../context.ts';
import type { AdaptiveBatchSize } from './adaptive-batch-size.ts';
import { Applier, firstBatchSize } from './applier.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import { hasModelsOf } from './leases.ts';
import { BEFORE_ALL, nextReady, type OperationRange, requestPages } from './ready-operations.ts';
import {
  areShardsLeft,
  type ClaimedShard,
  claimShard,
  collectionsWithFreeShards,
  offerShards,
  returnShard,
  ShardLostError,
} from './shard-leases.ts';

/*
 * A large commit offers the shards of its collection: any indexer takes a shard and applies its ready operations, and
 * so does the leader, until all are done. This goes up to the next delete by query, which concerns all shards. See ADR
 * 36.
 */

/** Poll interval for the end of shards that other processes apply, in milliseconds. */
const POLL_MILLISECONDS = 100;

/** State shared by all tasks of this process that apply shards of one collection. */
type ShardWork = Omit<CommitContext, 'schema' | 'target' | 'lease'> & {
  /** Shared, so that not every task starts with small chunks. */
  readonly batchSize: AdaptiveBatchSize;
};

/**
 * Applies all shards up to the next delete by query, in parallel. The leader applies those that no other process takes.
 *
 * @param part the operations; those after the next delete by query are left out
 * @returns the number below which all operations are applied
 */
export async function applyShards(context: CommitContext & ShardWork, part: OperationRange): Promise<bigint> {
  const { store, collection, signal, slot } = context;
  const endSeq = await inCommit(context, async (tx) => {
    const end = (await nextDeleteByQuery(tx, collection, part)) ?? part.endSeq;
    await offerShards(tx, collection, end);
    return end;
  });
  const share = await shareOf(store, collection);
  for (;;) {
    signal?.throwIfAborted();
    if (slot.isWanted) await slot.yield();
    // A shard that failed in another slot is free again. The leader takes it, and reports the error if it occurs again.
    const [own] = await Promise.allSettled([applyFreeShards(context), ...inOtherSlots(context, share - 1)]);
    if (own.status === 'rejected') throw own.reason;
    if (!(await areShardsLeft(store, collection))) return endSeq;
    if (own.value === 0) await store.events.changed(collection.id, POLL_MILLISECONDS, signal);
  }
}

/** Applies free shards in further slots, as many as are free now. @returns how many in each */
function inOtherSlots(work: Omit<ShardWork, 'slot'>, max: number): Promise<number>[] {
  return Array.from({ length: max }, async () => {
    const slot = work.store.commitSemaphore.tryAcquire();
    if (slot === undefined) return 0;
    try {
      return await applyFreeShards({ ...work, slot });
    } finally {
      slot.release();
    }
  });
}

/**
 * Applies shards of commits of other leaders, if there are free ones, this process has their models, and its own
 * commits leave it a slot.
 *
 * @returns the collections where this process has applied shards, with the numbers of shards and of failed operations
 * @throws AkinError unavailable while the database is unreachable; the error of a shard, which others may take then
 */
export async function helpCommits(
  store: Store,
  signal?: AbortSignal,
): Promise<{ collection: string; shards: number; failed: number }[]> {
  const helped = [];
  for (const id of await collectionsWithFreeShards(store)) {
    // A commit of this process applies them itself.
    if (store.commits.has(id)) continue;
    const collection = await collectionOf(store, id);
    if (collection === undefined || !(await hasModelsOf(store, collection))) continue;
    const failures = { count: 0 };
    const work = { store, collection, signal, batchSize: firstBatchSize(store), failures };
    let shards = 0;
    for (const one of await Promise.allSettled(inOtherSlots(work, await shareOf(store, collection)))) {
      if (one.status === 'rejected') throw one.reason;
      shards += one.value;
    }
    if (shards > 0) helped.push({ collection: collection.name, shards, failed: failures.count });
  }
  return helped;
}

/** Number of shards that each indexer applies at a time, so that all have work. */
async function shareOf(store: Store, collection: Collection): Promise<number> {
  const [row] = await store.engine.query<{ indexers: number }>(
    'select count(*)::int4 as indexers from akin.lease_holders where expires_at > now()',
  );
  return Math.ceil(shardsOf(collection) / Math.max(1, row?.indexers ?? 1));
}

async function nextDeleteByQuery(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  { after, endSeq }: OperationRange,
): Promise<bigint | undefined> {
  const [row] = await tx.query<{ seq: bigint | null }>(
    `select min(r.first_seq + o.position) as seq from ${S}.operations o join ${S}.requests r using (request)
      where o.kind = 'delete-by-query' and o.state in ${OPEN_STATES} and not r.finished and r.first_seq is not null
        and r.first_seq + o.position > $1 and r.first_seq + o.position < $2`,
    [after, endSeq],
  );
  return row?.seq ?? undefined;
}

/** Applies one shard after the other, until none is free or another commit waits for the slot. @returns how many */
async function applyFreeShards(work: ShardWork): Promise<number> {
  for (let shards = 0; ; shards++) {
    if ((shards > 0 && work.slot.isWanted) || !(await applyNextShard(work))) return shards;
  }
}

/** Applies a free shard, to its end or until another commit waits for the slot. @returns false if none is free */
async function applyNextShard({ batchSize, ...work }: ShardWork): Promise<boolean> {
  const { store, collection, failures } = work;
  const claimed = await claimShard(store, collection);
  if (claimed === undefined) return false;
  const { lease, target } = claimed;
  const context = { ...work, schema: await loadSchema(store, collection), target, lease };
  const failedBefore = failures.count;
  try {
    const isDone = await applyShard(context, claimed, new Applier(context, batchSize));
    await returnShard(store, collection, lease, isDone);
    if (failures.count > failedBefore) store.events.notify(collection.id);
  } catch (error) {
    if (error instanceof ShardLostError) return true;
    // Others need not wait for the lease to expire.
    await returnShard(store, collection, lease, false).catch(() => undefined);
    throw error;
  }
  return true;
}

/** @returns whether everything is applied */
async function applyShard(
  { store, collection, signal, slot }: CommitContext,
  { lease: { shard }, endSeq }: ClaimedShard,
  applier: Applier,
): Promise<boolean> {
  try {
    for await (const page of requestPages(store, collection, endSeq)) {
      for (let after = BEFORE_ALL, isMore = true; isMore; ) {
        signal?.throwIfAborted();
        const limit = applier.rows;
        const operations = await nextReady(store, collection, page, { after, endSeq, shard }, limit);
        isMore = operations.length === limit;
        const last = operations.at(-1);
        if (last === undefined) break;
        after = last.seq;
        await applier.apply(operations);
        if (slot.isWanted) return false;
        await applier.pauseAfterChunk();
      }
    }
    return true;
  } finally {
    await applier.applied();
  }
}
