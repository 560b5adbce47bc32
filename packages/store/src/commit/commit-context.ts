import type { Collection, CollectionSchema, Store } from '../context.ts';
import type { Slot } from './fair-semaphore.ts';
import type { Lease } from './leases.ts';
import type { ShardLease } from './shard-leases.ts';

export interface CommitContext {
  readonly store: Store;
  readonly collection: Collection;
  readonly schema: CollectionSchema;
  /** The number of the commit: what it writes is visible from that number on. */
  readonly target: bigint;
  /**
   * The right to commit, or to apply a shard, which every transaction checks. Undefined if no other process uses the
   * store.
   */
  readonly lease: Lease | ShardLease | undefined;
  /** Interrupts the commit between two chunks. */
  readonly signal: AbortSignal | undefined;
  /** Its share of the processor and connections: see {@link FairSemaphore}. */
  readonly slot: Slot;
}

/** The shard that a context is limited to. Undefined: all shards. */
export function shardOf({ lease }: CommitContext): number | undefined {
  return lease !== undefined && 'shard' in lease ? lease.shard : undefined;
}
