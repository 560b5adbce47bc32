import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { shardsOf } from '../../database/collections/shards.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import type { Store } from '../context.ts';

/** The right of one process to apply a shard of a commit. Each of its transactions renews it. See ADR 36. */
export interface ShardLease {
  readonly shard: number;
  /** Changes each time that a process takes the shard: a fencing token. */
  readonly claim: string;
}

/** A taken shard, with the operations to apply. */
export interface ClaimedShard {
  readonly lease: ShardLease;
  /** The operations with lower numbers. */
  readonly endSeq: bigint;
  /** The number of the commit that will publish them. */
  readonly target: bigint;
}

/** Others may take a shard whose holder has started no transaction for this time. */
const LEASE = "interval '5 seconds'";

/**
 * The error if another process has taken over the shard, or the commit has ended or was started again. What this
 * process has applied is kept.
 */
export class ShardLostError extends AkinError {
  constructor({ name }: Collection, { shard }: ShardLease) {
    super('conflict', `Another indexer applies shard ${shard} of the collection ${name} now.`);
  }
}

/** Offers all shards of a collection to any indexer. The caller has the lease of the collection. */
export async function offerShards(tx: Queryable, collection: Collection, endSeq: bigint): Promise<void> {
  await tx.query(
    `insert into akin.shard_leases (collection, shard, end_seq)
     select $1, shard, $3 from generate_series(0, $2 - 1) shard`,
    [collection.id, shardsOf(collection), endSeq],
  );
}

/**
 * Withdraws the offers of an interrupted commit: waits for a running transaction on each shard; later ones are refused.
 * The caller has the lease of the collection.
 */
export async function withdrawShards(tx: Queryable, { id }: Collection): Promise<void> {
  await tx.query('delete from akin.shard_leases where collection = $1', [id]);
}

export async function claimShard(store: Store, { id }: Collection): Promise<ClaimedShard | undefined> {
  const claim = randomUUID();
  // Nothing is published while shards are left: the number of the commit stays.
  const [row] = await store.engine.query<{ shard: number; end_seq: bigint; target: bigint }>(
    `with free as materialized (
       select shard from akin.shard_leases where collection = $1 and expires_at < now()
        order by shard limit 1 for update skip locked
     )
     update akin.shard_leases l set claim = $2::uuid, expires_at = now() + ${LEASE}
       from free f, akin.collections c where l.collection = $1 and l.shard = f.shard and c.id = $1
     returning l.shard, l.end_seq, c.commit + 1 as target`,
    [id, claim],
    'bulk',
  );
  return row && { lease: { shard: row.shard, claim }, endSeq: row.end_seq, target: row.target };
}

/**
 * Renews the lease of a shard. Call it first in every transaction that writes to the shard: a process that takes over
 * the shard then waits until this transaction has ended.
 *
 * @throws ShardLostError if the lease was lost
 */
export async function requireShard(tx: Queryable, collection: Collection, lease: ShardLease): Promise<void> {
  const rows = await tx.query(
    `update akin.shard_leases set expires_at = now() + ${LEASE}
      where collection = $1 and shard = $2 and claim = $3::uuid returning shard`,
    [collection.id, lease.shard, lease.claim],
  );
  if (rows.length === 0) throw new ShardLostError(collection, lease);
}

/** Releases a shard: as done, or for others to continue. Does nothing if the lease was lost. */
export async function returnShard(
  store: Store,
  { id }: Collection,
  { shard, claim }: ShardLease,
  isDone: boolean,
): Promise<void> {
  const verb = isDone ? 'delete from akin.shard_leases' : "update akin.shard_leases set expires_at = '-infinity'";
  await store.engine.query(
    `${verb} where collection = $1 and shard = $2 and claim = $3::uuid`,
    [id, shard, claim],
    'bulk',
  );
}

export async function areShardsLeft(store: Store, { id }: Collection): Promise<boolean> {
  const [row] = await store.engine.query<{ some: boolean }>(
    'select exists (select from akin.shard_leases where collection = $1) as some',
    [id],
    'bulk',
  );
  return row?.some ?? false;
}

export async function collectionsWithFreeShards(store: Store): Promise<number[]> {
  const rows = await store.engine.query<{ collection: number }>(
    'select distinct collection from akin.shard_leases where expires_at < now()',
  );
  return rows.map(({ collection }) => collection);
}
