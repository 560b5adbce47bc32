import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import type { CompiledPglite, WorkerConfig, WorkerReply, WorkerRequest } from './pglite-worker.ts';

/** Resolves to the same file from src (under jest) and from dist. */
const WORKER_FILE = new URL('../../../dist/database/engine/pglite-worker.js', import.meta.url);

/** A start replays up to 64 MB of the write-ahead log, on a machine that may be very busy. */
const START_MILLISECONDS = 300_000;
/** If it is not closed properly, the next start recovers. */
const CLOSE_MILLISECONDS = 2_000;
const HEALTH_CHECK_MILLISECONDS = 2_000;

/** What the first thread compiled: later ones share the machine code and start in half of the CPU time. */
let compiled: CompiledPglite | undefined;

/**
 * The worker as a socket: pg's client speaks the wire protocol with it as with a server, so both databases share
 * parameters, types and errors.
 */
export class PgliteThread extends Duplex {
  readonly #worker: Worker;
  #pending: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;
  /** Number of rounds of the wire protocol: sent, and answered. */
  #asked = 0;
  #answered = 0;
  #checkedAt = 0;
  readonly #healthTimer: NodeJS.Timeout;

  private constructor(worker: Worker) {
    super({ autoDestroy: false });
    this.#worker = worker;
    // A waiting caller gets the failure itself. Without a listener the event would crash the process.
    this.on('error', () => undefined);
    worker.on('message', (reply: WorkerReply) => this.#receive(reply));
    worker.on('error', (error) => this.fail(error));
    worker.on('exit', () => this.fail(new Error('it ended')));
    this.#healthTimer = setInterval(() => this.#checkHealth(), HEALTH_CHECK_MILLISECONDS).unref();
  }

  /** @param signal ends the thread during its start */
  static async start(config: WorkerConfig, signal?: AbortSignal): Promise<PgliteThread> {
    const thread = new PgliteThread(new Worker(WORKER_FILE, { workerData: { ...config, compiled }, execArgv: [] }));
    const giveUp = () => thread.fail(new Error('it was stopped'));
    signal?.addEventListener('abort', giveUp);
    try {
      signal?.throwIfAborted();
      await thread.#awaitReply(START_MILLISECONDS);
    } catch (error) {
      await thread.#worker.terminate();
      throw error;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
    return thread;
  }

  /** Why it cannot be used any more. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Closes the database properly if it does so in time. Resolves when the thread is gone. */
  async close(milliseconds = CLOSE_MILLISECONDS): Promise<void> {
    if (this.#failure === undefined) {
      this.#post({ kind: 'close' });
      await this.#awaitReply(milliseconds).catch(() => undefined);
    }
    clearInterval(this.#healthTimer);
    this.#failure ??= new Error('the database is closed');
    await this.#worker.terminate();
    this.destroy();
  }

  /**
   * Abandons the thread: the running work rejects with an error that has the code, and the thread ends whatever it is
   * doing. `close` resolves when it is gone.
   */
  fail(error: Error, code = 'ECONNRESET'): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    clearInterval(this.#healthTimer);
    void this.#worker.terminate();
    this.#pending?.reject(error);
    this.destroy(Object.assign(new Error(`The database thread failed: ${error.message}`), { code }));
  }

  /** @param milliseconds after which the thread is abandoned */
  async #awaitReply(milliseconds?: number): Promise<void> {
    const late = () => this.fail(new Error(`it did not answer within ${milliseconds} ms`));
    const timer = milliseconds === undefined ? undefined : setTimeout(late, milliseconds);
    try {
      await new Promise<void>((resolve, reject) => {
        if (this.#failure === undefined) this.#pending = { resolve, reject };
        else reject(this.#failure);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * A thread hears nothing while it runs a statement. A thread that answers this while a statement waits will never
   * answer the statement: its database has stopped.
   */
  #checkHealth(): void {
    if (this.#asked > this.#answered && this.#asked === this.#checkedAt)
      this.#post({ kind: 'check', round: this.#asked });
    this.#checkedAt = this.#asked;
  }

  #post(request: WorkerRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer);
  }

  #receive(reply: WorkerReply): void {
    // Messages of an abandoned thread are ignored.
    if (this.#failure !== undefined && reply instanceof Uint8Array) return;
    if (reply instanceof Uint8Array) {
      this.#answered++;
      this.push(Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength));
    } else if (reply.kind === 'failed') this.fail(new Error(reply.reason));
    else if (reply.kind === 'idle') {
      if (reply.round > this.#answered) this.fail(new Error('it rests, and a statement has no reply'));
    } else {
      if (reply.kind === 'ready') compiled ??= reply.compiled;
      this.#pending?.resolve();
    }
  }

  // What pg expects of a socket in addition to a stream.
  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }
  setNoDelay(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this._writev([{ chunk }], done);
  }

  /** pg corks the messages of one statement: they are sent in one piece and answered in one. */
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error) => void): void {
    const whole = new Uint8Array(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
    let offset = 0;
    for (const { chunk } of chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    this.#asked++;
    this.#post(whole, [whole.buffer]);
    done();
  }
}
