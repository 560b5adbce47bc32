import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Codebook } from './codebook.ts';
import type { Sorted, WorkerReply, WorkerRequest } from './worker.ts';

/** Resolves alike from src/cells (under jest) and from dist/cells. */
const WORKER_FILE = new URL('../../dist/cells/worker.js', import.meta.url);

/** Trains a codebook and assigns rows to its cells, off the event loop. One call at a time. */
export class CellThread implements AsyncDisposable {
  readonly #worker = new Worker(WORKER_FILE, { execArgv: [] });
  readonly #signal: AbortSignal;
  readonly #dimensions: number;

  /** @param signal ends what is at work: it rejects with an AbortError */
  constructor(dimensions: number, signal: AbortSignal) {
    this.#dimensions = dimensions;
    this.#signal = signal;
    // Whoever waits hears of a failure by itself; without a listener the event would end the process.
    this.#worker.on('error', () => undefined);
  }

  /** @param vectors as `halfvec_send` gives them, one behind the other */
  async train(vectors: Uint8Array, cells: number): Promise<Codebook> {
    const reply = await this.#ask({ kind: 'train', vectors, dimensions: this.#dimensions, cells });
    if (reply.kind !== 'trained') throw new Error(`the thread answered ${reply.kind}`);
    return reply.codebook;
  }

  /** Finds the cells of the next vectors in the codebook that was trained; the thread keeps them. */
  async assign(vectors: Uint8Array): Promise<void> {
    await this.#ask({ kind: 'assign', vectors, dimensions: this.#dimensions });
  }

  /** All vectors that were assigned, by their cells. */
  async sort(): Promise<Sorted> {
    const reply = await this.#ask({ kind: 'sort' });
    if (reply.kind !== 'sorted') throw new Error(`the thread answered ${reply.kind}`);
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: WorkerRequest): Promise<WorkerReply> {
    this.#worker.postMessage(request);
    const [reply] = await once(this.#worker, 'message', { signal: this.#signal });
    return reply as WorkerReply;
  }
}
