import type { Store } from '../context.ts';
import { AdaptiveBatchSize } from './adaptive-batch-size.ts';
import { applyChunk } from './apply.ts';
import { independentBatches } from './atomic.ts';
import type { CommitContext } from './commit-context.ts';
import { applyDeleteByQuery } from './delete-by-query.ts';
import { prepareChunk } from './prepare.ts';
import type { ReadyOperation } from './ready-operations.ts';

/** Operations per chunk while somebody searches. */
const THROTTLED_ROWS = 60;

export function firstBatchSize({ engine }: Store): AdaptiveBatchSize {
  // With chunks of 20 ms, half of the time would be per-statement overhead. On PostgreSQL only accepting requests wait
  // for a chunk, at its end. While there are searches, chunks are smaller.
  return engine.kind === 'pglite' ? new AdaptiveBatchSize(20, 1_000, 35, 10) : new AdaptiveBatchSize(200, 2_000, 400);
}

/**
 * Applies operations in chunks, in the given order. On PostgreSQL the next chunk is read and prepared while the server
 * applies the previous one, except while searches are slowed, because they would have to wait for both.
 */
export class Applier {
  readonly #context: CommitContext;
  readonly #batchSize: AdaptiveBatchSize;
  #atWork: Promise<void> | undefined;
  #began = performance.now();

  /** @param batchSize learns the number of operations per chunk; default: a new one */
  constructor(context: CommitContext, batchSize = firstBatchSize(context.store)) {
    this.#context = context;
    this.#batchSize = batchSize;
  }

  /** Number of operations of the next chunk. While searches are slowed it is small, so that no search waits long. */
  get rows(): number {
    const { rows } = this.#batchSize;
    return this.#context.store.throttle.isPausing ? Math.min(rows, THROTTLED_ROWS) : rows;
  }

  /** The learned number of operations per chunk, for parts of this commit that run in parallel. */
  get batchSize(): AdaptiveBatchSize {
    return this.#batchSize;
  }

  /** Applies adds and deletes by id. */
  async apply(operations: readonly ReadyOperation[]): Promise<void> {
    const isAtomic = operations.some(({ atomic }) => atomic);
    // Atomic updates are made from the documents in the tables.
    if (isAtomic) await this.applied();
    const pieces = isAtomic ? await independentBatches(this.#context, operations) : [operations];
    for (const piece of pieces) {
      const chunk = await prepareChunk(this.#context, piece);
      await this.applied();
      this.#atWork = applyChunk(this.#context, chunk, this.#batchSize);
      // `applied` reports the failure.
      this.#atWork.catch(() => undefined);
      if (isAtomic) await this.applied();
    }
  }

  /** Applies a delete by query, after everything before it. */
  async applyDelete(operation: ReadyOperation): Promise<void> {
    await this.applied();
    await applyDeleteByQuery(this.#context, operation);
  }

  /** Pauses for searches, in proportion to the work since the last pause. */
  async pauseAfterChunk(): Promise<void> {
    const { store, signal } = this.#context;
    const { engine, throttle } = store;
    if (engine.kind === 'pglite' || throttle.isPausing) await this.applied();
    await throttle.pauseAfter(performance.now() - this.#began, signal);
    this.#began = performance.now();
  }

  /** Lets commits of other collections run until this one has a slot again. */
  async pass(): Promise<void> {
    await this.applied();
    await this.#context.slot.yield();
    this.#began = performance.now();
  }

  /** Waits for the chunk in progress. @throws its error */
  async applied(): Promise<void> {
    const atWork = this.#atWork;
    this.#atWork = undefined;
    await atWork;
  }
}
