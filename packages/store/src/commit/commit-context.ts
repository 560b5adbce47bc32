import type { Collection, CollectionSchema, Store } from '../context.ts';
import type { Lease } from './leases.ts';
import type { ShardLease } from './shard-leases.ts';
import type { Turn } from './turns.ts';

/** The context of a commit. */
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
  /** Interrupts it between two pieces. */
  readonly signal: AbortSignal | undefined;
  /** Its place among the commits of all collections. */
  readonly turn: Turn;
}

/** The shard of this lease. Undefined: all of them. */
export function shardOf({ lease }: CommitContext): number | undefined {
  return lease !== undefined && 'shard' in lease ? lease.shard : undefined;
}
