import { AkinError } from '@akin/domain';
import { DiskSpace } from './disk-space.ts';
import type { Engine, Lane, Queryable, Row, SqlValue, TransactionOptions } from './engine.ts';
import { adoptNewDirectory, inspectFolder, lockFolder, removeNewDirectory } from './folder.ts';
import { Lanes } from './lanes.ts';
import { LiveSession, type PgliteSession } from './pglite-session.ts';
import { PgliteThread } from './pglite-thread.ts';
import { type Connection, runStatement, runTransaction } from './session.ts';

const CHECKPOINT_BYTES = 32 * 1024 * 1024;
/** Statements and transactions between two looks. */
const CHECKPOINT_LOOK = 50;
/** A caller that waits so long for the connection hears that it is busy. What is done in the background waits for ever. */
const PATIENCE_MILLISECONDS = 30_000;

/** What was just made is brought to its folder whole. */
const FIRST_CLOSE_MILLISECONDS = 60_000;
/** A statement that is at work when the database is closed may take so long; what it did is lost with it otherwise. */
const LAST_STATEMENT_MILLISECONDS = 1_000;

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
  const unlock = await lockFolder(folder, tell);
  try {
    const data = await inspectFolder(folder, tell);
    if (backup !== undefined && data.exists) {
      throw new AkinError('conflict', `${folder} already holds a database. Restore into an empty folder.`);
    }
    if (!data.exists) {
      const first = await PgliteThread.start(
        { dataDirectory: data.newDirectory, ...(backup ? { backup } : {}) },
        signal,
      );
      await first.close(FIRST_CLOSE_MILLISECONDS);
      await adoptNewDirectory(folder, data);
    }
    const disk = new DiskSpace(folder, tell);
    return createEngine(await LiveSession.open(data.dataDirectory, disk, tell, signal), disk, unlock);
  } catch (error) {
    // What was not finished would keep a full disk full.
    await removeNewDirectory(folder).catch(() => undefined);
    await unlock();
    signal?.throwIfAborted();
    if (error instanceof AkinError) throw error;
    if (backup !== undefined) {
      const why = (error as Error).message;
      throw new AkinError('bad-request', `${backup} cannot be restored: ${why}. It must be a file of akin backup.`, {
        cause: error,
      });
    }
    if (await new DiskSpace(folder, tell).isFull()) {
      const msg = `The database in ${folder} cannot be opened, for its disk is full: make room on it, or enlarge it.`;
      throw new AkinError('unavailable', msg, { cause: error });
    }
    throw new AkinError(
      'unavailable',
      `The database in ${folder} cannot be opened: ${(error as Error).message}. If it is damaged, restore a backup (akin restore) or index again into an empty folder.`,
      { cause: error },
    );
  }
}

function createEngine(live: LiveSession, disk: DiskSpace, unlock: () => Promise<void>): PgliteEngine {
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
        lanes.run('bulk', async () => checkpointIfDue((await live.get()).limited())).catch(() => undefined);
      }
    }
  };
  let closed: Promise<void> | undefined;
  /** A caller that waits in line hears at once that it is closed; a statement at work gets a moment to end. */
  const close = async () => {
    live.refuse();
    const timer = setTimeout(() => live.cut(), LAST_STATEMENT_MILLISECONDS);
    await lanes.run('interactive', async () => {
      clearTimeout(timer);
      await live.close();
      await unlock();
    });
  };
  return {
    kind: 'pglite',
    disk,
    query: <R extends Row>(sql: string, params?: readonly SqlValue[], lane: Lane = 'interactive') =>
      runInLane(lane, (session) => runStatement<R>(session.limited(), sql, params)),
    transaction: <T>(work: (tx: Queryable, first: readonly Row[]) => Promise<T>, options: TransactionOptions = {}) => {
      const { timeoutMilliseconds: limit, ...rest } = options;
      if (options.snapshot) lastSearch = performance.now();
      return runInLane(options.lane ?? 'interactive', (session) => runTransaction(session.limited(limit), work, rest));
    },
    sinceLastSearch: () => performance.now() - lastSearch,
    cancelStatements: async () => {},
    poolUse: () => undefined,
    backup: (file) =>
      lanes.run('bulk', async () => {
        const session = await live.get();
        await runStatement(session.limited(), 'checkpoint');
        await session.thread.backup(file);
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
async function checkpointIfDue(client: Connection): Promise<void> {
  const [row] = await runStatement<{ bytes: number }>(
    client,
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()',
  );
  if (row !== undefined && row.bytes > CHECKPOINT_BYTES) await runStatement(client, 'checkpoint');
}
