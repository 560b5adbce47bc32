import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { AkinError } from '@akin/domain';
import pg from 'pg';
import type { Engine, Lane, Queryable, Row, SqlValue, TransactionOptions } from './engine.ts';
import { adoptNewDirectory, inspectFolder, lockFolder } from './folder.ts';
import { Lanes } from './lanes.ts';
import type { WorkerConfig, WorkerReply, WorkerRequest } from './pglite-worker.ts';
import { runStatement, runTransaction, SESSION_SETTINGS } from './session.ts';
import { ROW_TYPES } from './types.ts';

/** Resolves alike from src/engine (under jest) and from dist/engine. */
const WORKER_FILE = new URL('../../dist/engine/pglite-worker.js', import.meta.url);

const CHECKPOINT_BYTES = 32 * 1024 * 1024;
/** Statements and transactions between two looks. */
const CHECKPOINT_LOOK = 50;

export interface PgliteEngine extends Engine {
  readonly kind: 'pglite';
  /** Writes all data into one file, safe on the disk when this resolves. Nothing else runs meanwhile. */
  backup(file: string): Promise<void>;
}

/**
 * Opens the embedded database of a folder, making it when there is none; the database runs in a worker thread. It
 * survives a kill of the process at any moment, but not a loss of power: PGlite never calls fsync. That is what
 * `backup` is for.
 * @param backup fills the (still empty) folder from a file that `backup` wrote
 */
export async function openPglite(folder: string, backup?: string): Promise<PgliteEngine> {
  const unlock = await lockFolder(folder);
  try {
    const data = await inspectFolder(folder);
    if (backup !== undefined && data.exists) {
      throw new AkinError('conflict', `${folder} already holds a database. Restore into an empty folder.`);
    }
    if (!data.exists) {
      const first = await PgliteThread.start({ dataDirectory: data.newDirectory, ...(backup ? { backup } : {}) });
      await first.close();
      await adoptNewDirectory(folder, data);
    }
    const thread = await PgliteThread.start({ dataDirectory: data.dataDirectory });
    try {
      return await connect(thread, unlock);
    } catch (error) {
      await thread.close();
      throw error;
    }
  } catch (error) {
    await unlock();
    if (error instanceof AkinError) throw error;
    throw new AkinError(
      'unavailable',
      `The database in ${folder} cannot be opened: ${(error as Error).message}. If it is damaged, restore a backup (akin restore) or index again into an empty folder.`,
      { cause: error },
    );
  }
}

async function connect(thread: PgliteThread, unlock: () => Promise<void>): Promise<PgliteEngine> {
  const client = new pg.Client({
    user: 'postgres',
    database: 'postgres',
    password: '',
    stream: () => thread as never,
    types: ROW_TYPES,
  });
  // Every statement that is under way rejects by itself; without a listener the process would end.
  client.on('error', () => undefined);
  await client.connect();
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) await client.query(`set ${name} = '${value}'`);

  // A sample of 300 rows for each says enough, and keeps everybody else waiting for 50 ms. Of 6,000 rows it was 200,
  // and of the usual 30,000 a second: words and arrays are slow to count.
  await client.query('set default_statistics_target = 8');

  const lanes = new Lanes();
  let runs = 0;
  let lastSearch = Number.NEGATIVE_INFINITY;
  /** Runs work on the connection, and now and then looks whether a checkpoint is due. */
  const runInLane = async <T>(lane: Lane, work: () => Promise<T>): Promise<T> => {
    try {
      return await lanes.run(lane, work);
    } finally {
      // After a close it fails, which harms nobody.
      if (++runs % CHECKPOINT_LOOK === 0) lanes.run('bulk', () => checkpointIfDue(client)).catch(() => undefined);
    }
  };
  let closed: Promise<void> | undefined;
  const close = async () => {
    await lanes.run('interactive', async () => {
      await thread.close();
      await unlock();
    });
  };
  return {
    kind: 'pglite',
    query: <R extends Row>(sql: string, params?: readonly SqlValue[], lane: Lane = 'interactive') =>
      runInLane(lane, () => runStatement<R>(client, sql, params)),
    transaction: <T>(work: (tx: Queryable) => Promise<T>, options: TransactionOptions = {}) => {
      const { timeoutMilliseconds: _, ...rest } = options;
      if (options.snapshot) lastSearch = performance.now();
      return runInLane(options.lane ?? 'interactive', () => runTransaction(client, work, rest));
    },
    sinceLastSearch: () => performance.now() - lastSearch,
    backup: (file) =>
      lanes.run('bulk', async () => {
        await runStatement(client, 'checkpoint');
        await thread.backup(file);
      }),
    [Symbol.asyncDispose]: () => {
      closed ??= close();
      return closed;
    },
  };
}

/**
 * PGlite never makes a checkpoint by itself, so its write-ahead log would grow for ever, and each start replay all of it.
 * One for each 32 MB takes some 25 ms.
 */
async function checkpointIfDue(client: pg.Client): Promise<void> {
  const [row] = await runStatement<{ bytes: number }>(
    client,
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()',
  );
  if (row !== undefined && row.bytes > CHECKPOINT_BYTES) await runStatement(client, 'checkpoint');
}

/**
 * The worker as a socket: pg's client speaks the wire protocol through it as it does to a server, so both engines share
 * parameters, types and errors.
 */
class PgliteThread extends Duplex {
  readonly #worker: Worker;
  /** The request by name that is under way; the engine sends one at a time. */
  #pending: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;

  private constructor(worker: Worker) {
    super({ autoDestroy: false });
    this.#worker = worker;
    // Whoever waits hears of a failure by itself; without a listener the event would end the process.
    this.on('error', () => undefined);
    worker.on('message', (reply: WorkerReply) => this.#hear(reply));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => this.#fail(new Error('the database thread ended')));
  }

  static async start(config: WorkerConfig): Promise<PgliteThread> {
    const thread = new PgliteThread(new Worker(WORKER_FILE, { workerData: config, execArgv: [] }));
    try {
      await thread.#settle();
    } catch (error) {
      await thread.#worker.terminate();
      throw error;
    }
    return thread;
  }

  async backup(file: string): Promise<void> {
    this.#post({ kind: 'backup', file });
    await this.#settle();
  }

  async close(): Promise<void> {
    if (this.#failure === undefined) {
      this.#post({ kind: 'close' });
      await this.#settle().catch(() => undefined);
    }
    this.#failure ??= new Error('the database is closed');
    await this.#worker.terminate();
    this.destroy();
  }

  #settle(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#pending = { resolve, reject };
      else reject(this.#failure);
    });
  }

  #post(request: WorkerRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(request, transfer);
  }

  #hear(reply: WorkerReply): void {
    if (reply instanceof Uint8Array) this.push(Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength));
    else if (reply.kind === 'failed') this.#fail(new Error(reply.reason));
    else this.#pending?.resolve();
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#pending?.reject(error);
    this.destroy(Object.assign(new Error(`The database thread failed: ${error.message}`), { code: 'ECONNRESET' }));
  }

  // What pg expects of a socket besides a stream.
  connect(): this {
    queueMicrotask(() => this.emit('connect'));
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this._writev([{ chunk }], done);
  }

  /** pg corks the messages of one statement: they cross in one piece and come back as one. */
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error) => void): void {
    const whole = new Uint8Array(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
    let offset = 0;
    for (const { chunk } of chunks) {
      whole.set(chunk, offset);
      offset += chunk.length;
    }
    this.#post(whole, [whole.buffer]);
    done();
  }
}
