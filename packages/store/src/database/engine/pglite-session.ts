import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { AkinError } from '@akin/domain';
import pg from 'pg';
import { copyIn, copyOut } from './copy.ts';
import type { DiskSpace } from './disk-space.ts';
import type { Row } from './engine.ts';
import { PgliteThread } from './pglite-thread.ts';
import { send } from './prepared.ts';
import { type Connection, SESSION_SETTINGS } from './session.ts';
import { DISK_FULL, endsConnection } from './sqlstate.ts';
import { ROW_TYPES } from './types.ts';

const QUERY_CANCELED = '57014';
const ADMIN_SHUTDOWN = '57P01';
/** No statement takes longer than building an index of the largest collection on a busy machine. */
const LONGEST_STATEMENT_MILLISECONDS = 600_000;

/** One run of the embedded database: a thread, and the connection to it. */
export class PgliteSession {
  readonly thread: PgliteThread;
  readonly #client: pg.Client;

  private constructor(thread: PgliteThread, client: pg.Client) {
    this.thread = thread;
    this.#client = client;
    client.on('error', (error) => this.#endIfDeadly(error));
  }

  static async open(dataDirectory: string, signal?: AbortSignal): Promise<PgliteSession> {
    // PGlite would create a new, empty database if there is none.
    await access(join(dataDirectory, 'PG_VERSION'));
    const thread = await PgliteThread.start({ dataDirectory }, signal);
    try {
      return new PgliteSession(thread, await connect(thread));
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /**
   * The connection, with a time limit for each statement. PGlite cannot stop one: it has no timers and signals of a
   * server. So the thread is ended with its statement, and the next use starts another one.
   */
  limited(milliseconds: number = LONGEST_STATEMENT_MILLISECONDS): Connection {
    const within = async <T>(run: () => Promise<T>): Promise<T> => {
      const stop = () => this.thread.fail(new Error(`a statement took longer than ${milliseconds} ms`), QUERY_CANCELED);
      const timer = setTimeout(stop, milliseconds);
      try {
        return await run();
      } catch (error) {
        this.#endIfDeadly(error);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    };
    return {
      query: <R extends Row>(sql: string, params?: unknown[], name?: string) =>
        within(() => send<R>(this.#client, sql, params, name)),
      copy: (query, maxBytes) => within(() => copyOut(this.#client, query, maxBytes)),
      copyIn: (copies) => within(() => copyIn(this.#client, copies)),
    };
  }

  cut(): void {
    this.thread.fail(new Error('the database is closed'), ADMIN_SHUTDOWN);
  }

  #endIfDeadly(error: unknown): void {
    // No further statement would be answered.
    if (!endsConnection(error)) return;
    const { code, message } = error as pg.DatabaseError;
    this.thread.fail(new Error(`${code === DISK_FULL ? 'the disk is full: ' : ''}${message}`), code);
  }
}

async function connect(thread: PgliteThread): Promise<pg.Client> {
  const client = new pg.Client({
    user: 'postgres',
    database: 'postgres',
    password: '',
    stream: () => thread as never,
    types: ROW_TYPES,
  });
  // Every running statement rejects itself. Without a listener the process would crash.
  client.on('error', () => undefined);
  await client.connect();
  for (const [name, value] of Object.entries(SESSION_SETTINGS)) await client.query(`set ${name} = '${value}'`);

  // A sample of 300 rows per unit is accurate enough, and blocks other statements for 50 ms. 6,000 rows took 200 ms,
  // and the usual 30,000 a second: words and arrays are slow to count.
  await client.query('set default_statistics_target = 8');
  return client;
}

const LONGEST_WAIT_MILLISECONDS = 30_000;
const FIRST_WAIT_MILLISECONDS = 500;

/**
 * The living session. If its thread died (out of memory, a crash of the database, a statement that took too long), the
 * next use starts another one on the same folder: all committed data is in the write-ahead log, as after a kill of the
 * process. To be used by one caller at a time.
 */
export class LiveSession {
  readonly #dataDirectory: string;
  readonly #disk: DiskSpace;
  readonly #warn: (text: string) => void;
  #session: PgliteSession | undefined;
  #failed = 0;
  #full = false;
  #notBefore = Number.NEGATIVE_INFINITY;
  #closed = false;

  /** @param warn gets messages for the operator */
  constructor(dataDirectory: string, session: PgliteSession, disk: DiskSpace, warn: (text: string) => void) {
    this.#dataDirectory = dataDirectory;
    this.#session = session;
    this.#disk = disk;
    this.#warn = warn;
  }

  /** @throws AkinError unavailable if it died and cannot be restarted for now */
  async get(): Promise<PgliteSession> {
    if (this.#closed) throw new AkinError('unavailable', 'The database is closed.');
    if (this.#session !== undefined && this.#session.thread.failure === undefined) return this.#session;
    const wait = this.#notBefore - performance.now();
    if (wait > 0) throw this.#notStarted(wait);
    await this.#giveUp();
    return this.#start();
  }

  /** Gives the session to no more callers. The running work may continue until `cut`. */
  refuse(): void {
    this.#closed = true;
  }

  /** Ends the running work, which fails as unavailable. */
  cut(): void {
    this.#session?.cut();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#session?.thread.close();
  }

  /** Two threads on one folder would destroy the data: the new one starts when the old one is gone. */
  async #giveUp(): Promise<void> {
    if (this.#session === undefined) return;
    const { thread } = this.#session;
    this.#session = undefined;
    this.#warn(`The thread of the embedded database failed: ${thread.failure?.message}. It will be restarted.`);
    await thread.close();
  }

  async #start(): Promise<PgliteSession> {
    const began = performance.now();
    try {
      this.#session = await PgliteSession.open(this.#dataDirectory);
    } catch (error) {
      const wait = Math.min(FIRST_WAIT_MILLISECONDS * 2 ** this.#failed++, LONGEST_WAIT_MILLISECONDS);
      this.#notBefore = performance.now() + wait;
      this.#full = await this.#disk.isFull();
      const why = `${this.#full ? 'the disk is full: ' : ''}${(error as Error).message}`;
      this.#warn(`The embedded database cannot be started again: ${why}. Next try in ${wait} ms.`);
      throw this.#notStarted(wait, error);
    }
    this.#failed = 0;
    this.#warn(`The embedded database answers again after ${Math.round(performance.now() - began)} ms.`);
    return this.#session;
  }

  #notStarted(wait: number, cause?: unknown): AkinError {
    const msg = this.#full
      ? 'The disk of the database is full, and the database cannot be started: free some space, or enlarge the disk. Then it continues.'
      : 'The database failed and cannot be restarted for now. The log contains the reason.';
    return new AkinError('unavailable', msg, { cause, retryAfterSeconds: Math.ceil(wait / 1000) });
  }
}
