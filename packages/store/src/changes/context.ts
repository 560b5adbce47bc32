import type { Collection, CollectionSchema } from '../database/context.ts';
import type { SearchStore } from '../search/context.ts';
import type { OperationEvents } from './accept/operation-events.ts';
import type { FairSemaphore } from './commit/fair-semaphore.ts';

/** An open store, with all that its layers use. */
export interface Store extends SearchStore, AsyncDisposable {
  readonly graceMilliseconds: number;
  readonly shardsFrom: number;
  /** By id of the collection. */
  readonly commits: Map<number, CommitRun>;
  readonly commitSemaphore: FairSemaphore;
  readonly events: OperationEvents;
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
