import { AdaptiveBatchSize } from '../bulk/adaptive-batch-size.ts';
import type { Store } from '../context.ts';
import { applyChunk } from './apply.ts';
import { piecesOf } from './atomic.ts';
import type { CommitContext } from './commit-context.ts';
import { applyDeleteByQuery } from './delete-by-query.ts';
import { prepareChunk } from './prepare.ts';
import type { ReadyOperation } from './ready-operations.ts';

/** Operations of a chunk while searches are slowed by them. */
const THROTTLED_ROWS = 60;

/** How many rows a chunk has, before anything is known of them. */
export function firstBatchSize({ engine }: Store): AdaptiveBatchSize {
  // A chunk of 20 ms would be statements that cost the same for any number of rows, by half. On PostgreSQL nobody waits
  // for one but those who accept, for its last moment; while somebody searches they are smaller.
  return engine.kind === 'pglite' ? new AdaptiveBatchSize(20, 1_000, 35, 10) : new AdaptiveBatchSize(200, 2_000, 400);
}

/**
 * Applies operations chunk by chunk, in the order in which they are given. On PostgreSQL the next ones are read and
 * prepared while the server applies those before; not so while searches are slowed, which would have to wait for both.
 */
export class Applier {
  readonly #context: CommitContext;
  readonly #batchSize: AdaptiveBatchSize;
  #atWork: Promise<number> | undefined;
  #began = performance.now();
  #failed = 0;

  /** @param batchSize what was learned before of the collection */
  constructor(context: CommitContext, batchSize = firstBatchSize(context.store)) {
    this.#context = context;
    this.#batchSize = batchSize;
  }

  /** How many operations to apply next. While searches are slowed few are better: none of them waits long behind those. */
  get rows(): number {
    const { rows } = this.#batchSize;
    return this.#context.store.throttle.strength > 0 ? Math.min(rows, THROTTLED_ROWS) : rows;
  }

  /** What was learned of the collection, for those who apply a shard of it. */
  get batchSize(): AdaptiveBatchSize {
    return this.#batchSize;
  }

  /** How many operations failed, as far as all is {@link applied}. */
  get failed(): number {
    return this.#failed;
  }

  /** Applies adds and deletes by id. */
  async apply(operations: readonly ReadyOperation[]): Promise<void> {
    const isAtomic = operations.some(({ atomic }) => atomic);
    // They are made of what is in the tables.
    if (isAtomic) await this.applied();
    const pieces = isAtomic ? await piecesOf(this.#context, operations) : [operations];
    for (const piece of pieces) {
      const chunk = await prepareChunk(this.#context, piece);
      await this.applied();
      this.#atWork = applyChunk(this.#context, chunk, this.#batchSize);
      // Who waits for it gets its failure.
      this.#atWork.catch(() => undefined);
      if (isAtomic) await this.applied();
    }
  }

  /** Applies a delete by query: everything before it is applied then. */
  async applyDelete(operation: ReadyOperation): Promise<void> {
    await this.applied();
    this.#failed += await applyDeleteByQuery(this.#context, operation);
  }

  /** Lets searches go first for a while, by how long it took since the last rest. */
  async rest(): Promise<void> {
    const { engine, throttle } = this.#context.store;
    if (engine.kind === 'pglite' || throttle.strength > 0) await this.applied();
    await throttle.rest(performance.now() - this.#began);
    this.#began = performance.now();
  }

  /** Lets others have its place until it is its turn again. */
  async pass(): Promise<void> {
    await this.applied();
    await this.#context.turn.pass();
    this.#began = performance.now();
  }

  /** Waits for what is being applied. @throws what went wrong there */
  async applied(): Promise<void> {
    const atWork = this.#atWork;
    this.#atWork = undefined;
    this.#failed += (await atWork) ?? 0;
  }
}
