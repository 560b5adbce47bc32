import { BULK, type TransactionOptions, type WritingTransaction } from '../../database/engine/engine.ts';
import type { CollectionContext } from '../context.ts';
import type { Slot } from './fair-semaphore.ts';
import { type Lease, requireLease } from './leases.ts';
import type { ShardLease } from './shard-leases.ts';

export interface CommitContext extends CollectionContext {
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
  /** Counts the operations that fail, for the result of the commit. */
  readonly failures: { count: number };
}

/** The shard that a context is limited to. Undefined: all shards. */
export function shardOf({ lease }: CommitContext): number | undefined {
  return lease !== undefined && 'shard' in lease ? lease.shard : undefined;
}

/** A transaction of a commit. @throws AkinError conflict if the lease was lost */
export function inCommit<T>(
  { store, collection, lease }: Pick<CommitContext, 'store' | 'collection' | 'lease'>,
  work: (tx: WritingTransaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const checked = async (tx: WritingTransaction) => {
    await requireLease(tx, collection, lease);
    return work(tx);
  };
  return store.engine.transaction(checked, { ...BULK, ...options });
}
