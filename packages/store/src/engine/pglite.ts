import { AkinError } from '@akin/domain';
import type pg from 'pg';
import type { Engine, Lane, Queryable, Row, SqlValue, TransactionOptions } from './engine.ts';
import { adoptNewDirectory, inspectFolder, lockFolder, removeNewDirectory } from './folder.ts';
import { Lanes } from './lanes.ts';
import { LiveSession, type PgliteSession } from './pglite-session.ts';
import { PgliteThread } from './pglite-thread.ts';
import { runStatement, runTransaction } from './session.ts';

const CHECKPOINT_BYTES = 32 * 1024 * 1024;
/** Statements and transactions between two looks. */
const CHECKPOINT_LOOK = 50;
/** Whoever waits so long for the connection hears that it is busy. What is done in the background waits for ever. */
const PATIENCE_MILLISECONDS = 30_000;

export interface PgliteEngine extends Engine {
  readonly kind: 'pglite';
  /** Writes all data into one file, safe on the disk when this resolves. Nothing else runs meanwhile. */
  backup(file: string): Promise<void>;
}

export interface PgliteOptions {
  /** Fills the (still empty) folder from a file that `backup` wrote. */
  readonly backup?: string;
  /** Hears what an operator should know. */
  readonly tell?: (text: string) => void;
  /** Ends the opening; of a folder that was being filled nothing is left. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the embedded database of a folder, making it when there is none; the database runs in a worker thread. It
 * survives a kill of the process at any moment, and of the thread, which is started again by the next use; but not a
 * loss of power: PGlite never calls fsync. That is what `backup` is for.
 */
export async function openPglite(folder: string, options: PgliteOptions = {}): Promise<PgliteEngine> {
  const { backup, tell = () => undefined, signal } = options;
  const unlock = await lockFolder(folder);
  try {
    const data = await inspectFolder(folder);
    if (backup !== undefined && data.exists) {
      throw new AkinError('conflict', `${folder} already holds a database. Restore into an empty folder.`);
    }
    if (!data.exists) {
      const first = await PgliteThread.start(
        { dataDirectory: data.newDirectory, ...(backup ? { backup } : {}) },
        signal,
      );
      await first.close();
      await adoptNewDirectory(folder, data);
    }
    return createEngine(await LiveSession.open(data.dataDirectory, tell, signal), unlock);
  } catch (error) {
    if (signal?.aborted) await removeNewDirectory(folder);
    await unlock();
    signal?.throwIfAborted();
    if (error instanceof AkinError) throw error;
    if (backup !== undefined) {
      const why = (error as Error).message;
      throw new AkinError('bad-request', `${backup} cannot be restored: ${why}. It must be a file of akin backup.`, {
        cause: error,
      });
    }
    throw new AkinError(
      'unavailable',
      `The database in ${folder} cannot be opened: ${(error as Error).message}. If it is damaged, restore a backup (akin restore) or index again into an empty folder.`,
      { cause: error },
    );
  }
}

function createEngine(live: LiveSession, unlock: () => Promise<void>): PgliteEngine {
  const lanes = new Lanes();
  let runs = 0;
  let lastSearch = Number.NEGATIVE_INFINITY;
  /** Runs work on the connection, and now and then looks whether a checkpoint is due. */
  const runInLane = async <T>(lane: Lane, work: (session: PgliteSession) => Promise<T>): Promise<T> => {
    try {
      const patience = lane === 'interactive' ? PATIENCE_MILLISECONDS : undefined;
      return await lanes.run(lane, async () => work(await live.get()), patience);
    } finally {
      // After a close it fails, which harms nobody.
      if (++runs % CHECKPOINT_LOOK === 0) {
        lanes.run('bulk', async () => checkpointIfDue((await live.get()).client)).catch(() => undefined);
      }
    }
  };
  let closed: Promise<void> | undefined;
  const close = async () => {
    await lanes.run('interactive', async () => {
      await live.close();
      await unlock();
    });
  };
  return {
    kind: 'pglite',
    query: <R extends Row>(sql: string, params?: readonly SqlValue[], lane: Lane = 'interactive') =>
      runInLane(lane, ({ client }) => runStatement<R>(client, sql, params)),
    transaction: <T>(work: (tx: Queryable) => Promise<T>, options: TransactionOptions = {}) => {
      const { timeoutMilliseconds: limit, ...rest } = options;
      if (options.snapshot) lastSearch = performance.now();
      return runInLane(options.lane ?? 'interactive', (session) =>
        runTransaction(session.client, limit === undefined ? work : (tx) => work(session.limited(tx, limit)), rest),
      );
    },
    sinceLastSearch: () => performance.now() - lastSearch,
    backup: (file) =>
      lanes.run('bulk', async () => {
        const { client, thread } = await live.get();
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
