import type { Readable } from 'node:stream';
import { AkinError } from '@akin/domain';
import { archive, type BackupEnd, unpackArchive } from './backup-archive.ts';
import { DiskSpace } from './disk-space.ts';
import { unpackEmptyDatabase } from './empty-database.ts';
import type { Engine, Lane, ReadOptions, Row, SqlValue, TransactionOptions, WritingTransaction } from './engine.ts';
import { adoptNewDirectory, inspectFolder, lockFolder, removeNewDirectory } from './folder.ts';
import { Lanes } from './lanes.ts';
import { LiveSession, PgliteSession } from './pglite-session.ts';
import { PgliteThread } from './pglite-thread.ts';
import { PreparedStatements } from './prepared.ts';
import { type Connection, runCopyIn, runStatement, runTransaction, type TransactionResult } from './session.ts';

const CHECKPOINT_BYTES = 32 * 1024 * 1024;
/** A backup keeps the log of its duration. Beyond this size, it is abandoned. */
const LONGEST_BACKUP_BYTES = 2 * 1024 ** 3;
/** Statements and transactions between two checks. */
const CHECKPOINT_LOOK = 50;
/**
 * A caller that waits this long for the connection gets an error that it is busy. Background work waits without limit.
 */
const QUEUE_TIMEOUT_MILLISECONDS = 30_000;

/** New files are written to the folder as a whole. */
const RECOVERED_CLOSE_MILLISECONDS = 60_000;
/** Time that a running statement has when the database is closed. Then its work is lost. */
const LAST_STATEMENT_MILLISECONDS = 1_000;

export interface PgliteEngine extends Engine {
  readonly kind: 'pglite';
  /**
   * All data as a gzipped tar, while others read and write. It contains at least everything that was committed before
   * the call. @throws AkinError conflict while another backup runs
   */
  backup(): Promise<Readable>;
}

export interface PgliteOptions {
  /** Fills the (still empty) folder from a file with the bytes of `backup`. */
  readonly backup?: string;
  readonly warn?: (text: string) => void;
  /** Ends the start. An incomplete restore is removed. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the embedded database of a folder, and creates it if there is none. The database runs in a worker thread. It
 * survives a kill of the process at any moment, and of the thread, which the next use restarts. It does not survive a
 * power cut: PGlite never calls fsync. That is what `backup` is for.
 */
export async function openPglite(folder: string, options: PgliteOptions = {}): Promise<PgliteEngine> {
  const { backup, warn = () => undefined, signal } = options;
  const unlock = await lockFolder(folder, warn);
  try {
    const data = await inspectFolder(folder);
    if (backup !== undefined && data.exists) {
      throw new AkinError('conflict', `${folder} already contains a database. Restore into an empty folder.`);
    }
    if (!data.exists) {
      if (backup === undefined) unpackEmptyDatabase(data.newDirectory);
      else await recoverBackup(backup, data.newDirectory, signal);
      await adoptNewDirectory(folder, data);
    }
    const disk = new DiskSpace(folder, warn);
    const session = await PgliteSession.open(data.dataDirectory, signal);
    return createEngine(data.dataDirectory, new LiveSession(data.dataDirectory, session, disk, warn), disk, unlock);
  } catch (error) {
    // Unfinished files would keep a full disk full.
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
    if (await new DiskSpace(folder, warn).isFull()) {
      const msg = `The database in ${folder} cannot be opened, because its disk is full: free some space, or enlarge the disk.`;
      throw new AkinError('unavailable', msg, { cause: error });
    }
    throw new AkinError(
      'unavailable',
      `The database in ${folder} cannot be opened: ${(error as Error).message}. If it is damaged, restore a backup (akin restore) or index again into an empty folder.`,
      { cause: error },
    );
  }
}

/** The database is adopted only if it starts and has replayed its log. */
async function recoverBackup(backup: string, directory: string, signal?: AbortSignal): Promise<void> {
  await unpackArchive(backup, directory);
  const thread = await PgliteThread.start({ dataDirectory: directory }, signal);
  await thread.close(RECOVERED_CLOSE_MILLISECONDS);
}

function createEngine(
  dataDirectory: string,
  live: LiveSession,
  disk: DiskSpace,
  unlock: () => Promise<void>,
): PgliteEngine {
  const lanes = new Lanes();
  const prepared = new PreparedStatements();
  /** The running backup: the log of its duration is kept. */
  let backup: Readable | 'begins' | undefined;
  let runs = 0;
  let lastSearch = Number.NEGATIVE_INFINITY;
  const runInLane = <T>(lane: Lane, work: (session: PgliteSession) => Promise<TransactionResult<T>>): Promise<T> => {
    const maxWaitMilliseconds = lane === 'interactive' ? QUEUE_TIMEOUT_MILLISECONDS : undefined;
    return new Promise<T>((resolve, reject) => {
      const run = async () => {
        const { result, free } = await work(await live.get());
        resolve(result);
        await free;
      };
      lanes.run(lane, run, maxWaitMilliseconds).catch(reject).finally(checkpointIfDue);
    });
  };
  const checkpointIfDue = () => {
    // After a close it fails, which does no harm.
    if (++runs % CHECKPOINT_LOOK === 0) {
      lanes
        .run('bulk', async () => {
          const client = (await live.get()).limited();
          const bytes = await bytesSinceCheckpoint(client);
          if (backup === undefined && bytes > CHECKPOINT_BYTES) await runStatement(client, 'checkpoint');
          if (backup !== 'begins' && bytes > LONGEST_BACKUP_BYTES) backup?.destroy(tooMuchChanged());
        })
        .catch(() => undefined);
    }
  };
  let closed: Promise<void> | undefined;
  /** A waiting caller fails at once when it is closed. A running statement gets a moment to end. */
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
      runInLane(lane, async (session) => ({ result: await runStatement<R>(session.limited(), sql, params) })),
    copyIn: (copies, { lane = 'interactive' } = {}) =>
      runInLane(lane, async (session) => ({ result: await runCopyIn(session.limited(), copies) })),
    read: <R extends Row>(sql: string, params: readonly SqlValue[], options: ReadOptions) => {
      if (options.isSearch ?? true) lastSearch = performance.now();
      const name = options.prepared ? prepared.nameOf(sql) : undefined;
      return runInLane('interactive', async (session) => ({
        result: await runStatement<R>(session.limited(options.timeoutMilliseconds), sql, params, name),
      }));
    },
    transaction: <T>(
      work: (tx: WritingTransaction, first: readonly Row[]) => Promise<T>,
      options: TransactionOptions = {},
    ) => {
      const { timeoutMilliseconds: limit, ...rest } = options;
      if (options.snapshot) lastSearch = performance.now();
      return runInLane(options.lane ?? 'interactive', (session) => runTransaction(session.limited(limit), work, rest));
    },
    sinceLastSearch: () => performance.now() - lastSearch,
    cancelStatements: async () => {},
    poolUse: () => undefined,
    backup: async () => {
      if (backup !== undefined) throw new AkinError('conflict', 'Another backup runs: wait until it is done.');
      backup = 'begins';
      const run = <T>(work: (client: Connection) => Promise<T>) =>
        lanes.run('bulk', async () => work((await live.get()).limited()));
      try {
        await run((client) => runStatement(client, "select pg_backup_start('akin', true)"));
      } catch (error) {
        backup = undefined;
        throw error;
      }
      let stopped = false;
      const bytes = archive({
        dataDirectory,
        withoutWrites: (work) => lanes.run('bulk', work),
        end: async () => {
          const end = await run(stopBackup);
          stopped = true;
          return end;
        },
      });
      backup = bytes;
      bytes.once('close', () => {
        const done = () => {
          backup = undefined;
        };
        // It was abandoned, or failed because the thread was restarted, which also ends it.
        if (stopped) done();
        else void run(stopBackup).then(done, done);
      });
      return bytes;
    },
    [Symbol.asyncDispose]: () => {
      closed ??= close();
      return closed;
    },
  };
}

/**
 * Bytes of the write-ahead log since the last checkpoint. PGlite never makes one automatically, so the log would grow
 * forever, and each start would replay all of it. One checkpoint per 32 MB takes about 25 ms.
 */
async function bytesSinceCheckpoint(client: Connection): Promise<number> {
  const [row] = await runStatement<{ bytes: number }>(
    client,
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()',
  );
  return row?.bytes ?? 0;
}

async function stopBackup(client: Connection): Promise<BackupEnd> {
  const [row] = await runStatement<{ label: string; last: string }>(
    client,
    'select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(false)',
  );
  const { label = '', last = '' } = row ?? {};
  const [, first = last] = /\(file ([0-9A-F]{24})\)/.exec(label) ?? [];
  return { label, segments: [first, last] };
}

function tooMuchChanged(): AkinError {
  return new AkinError(
    'unavailable',
    'Too much was changed while the backup was read: read it faster, or at a time with fewer changes.',
  );
}
