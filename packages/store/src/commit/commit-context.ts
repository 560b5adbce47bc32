import type { Collection, CollectionSchema, Store } from '../context.ts';
import type { Lease } from './leases.ts';
import type { ShardLease } from './shard-leases.ts';
import type { Turn } from './turns.ts';

/** What a commit works with. */
export interface CommitContext {
  readonly store: Store;
  readonly collection: Collection;
  readonly schema: CollectionSchema;
  /** The number that the commit will have: what it writes is visible from there on. */
  readonly target: bigint;
  /** The right to commit, or to apply a shard, which every transaction checks; undefined where no other process could. */
  readonly lease: Lease | ShardLease | undefined;
  /** Breaks it off between two pieces. */
  readonly signal: AbortSignal | undefined;
  /** Its place among the commits of all collections. */
  readonly turn: Turn;
}

/** The shard that somebody with this lease applies; undefined: all of them. */
export function shardOf({ lease }: CommitContext): number | undefined {
  return lease !== undefined && 'shard' in lease ? lease.shard : undefined;
}
