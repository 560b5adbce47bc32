import type { Collection, CollectionSchema } from '../database/context.ts';
import type { Store as SearchStore } from '../search/context.ts';
import type { OperationEvents } from './accept/operation-events.ts';
import type { FairSemaphore } from './commit/fair-semaphore.ts';

/** An open store, with all that its three layers use. */
export interface Store extends SearchStore, AsyncDisposable {
  readonly graceMilliseconds: number;
  readonly shardsFrom: number;
  readonly memory: SearchStore['memory'] & {
    /** Words that are known to be in the table of words. */
    readonly words: Map<number, Set<string>>;
    readonly commits: Map<number, CommitRun>;
    /** How far failures were checked for those that a later change has made void. */
    readonly sweeps: Map<number, SweepCursor>;
    /** How often in a row a delete by query has crashed the embedded database, by collection and sequence number. */
    readonly crashes: Map<string, number>;
    readonly commitSemaphore: FairSemaphore;
    readonly events: OperationEvents;
  };
}

/** Commits of one collection in this process: one running, and at most one waiting. */
interface CommitRun {
  readonly running: Promise<CommitResult>;
  next?: Promise<CommitResult>;
}

export interface CommitResult {
  /** The number of the last commit. It is a new one if there was something to publish. */
  readonly commit: number;
  /** Number of published operations, including superseded ones. */
  readonly applied: number;
  readonly failed: number;
}

/** A collection, with its fields as of one version. */
export interface CollectionContext {
  readonly store: Store;
  readonly collection: Collection;
  readonly schema: CollectionSchema;
}

/** Where housekeeping of the failures of a collection continues. */
export interface SweepCursor {
  readonly request: bigint;
  readonly position: number;
}
