import { AkinError } from '@akin/domain';
import { requireSessionPooling, setSession } from '@akin/runtime';
import pg from 'pg';
import type { Engine } from './engine.ts';
import { connectionTo, openingError, openPool, POOL_SETTINGS, poolEngine } from './postgres-pool.ts';

const OLDEST_VERSION = 15;
/** Any number that nothing else uses: "akin" in ASCII. */
const LOCK_KEY = 0x616b696e;
const RELOCK_MILLISECONDS = 1_000;
/** The server needs a moment to notice that the process which held the lock was killed. */
const LOCK_WAIT_MILLISECONDS = 5_000;
const LOCK_RETRY_MILLISECONDS = 20;
const STANDBY_RETRY_SECONDS = 2;

export interface PostgresOptions {
  /** Size of the pool. Default: 10. */
  readonly connections?: number;
  /** Name of the connections on the server. Default: `akin`. */
  readonly name?: string | undefined;
  /**
   * Several processes of a fleet share the database. Called with every notification of `pg_notify` on {@link CHANNEL},
   * including our own. Notifications are lost while a connection is broken.
   */
  readonly onNotification?: (text: string) => void;
  /**
   * Called if the server has another history than before, for example a promoted standby: what was read before may no
   * longer be true. Nothing is read from that server before the call.
   */
  readonly timelineChanged?: () => void;
}

/** The channel of notifications between processes of a fleet. */
export const CHANNEL = 'akin';

/**
 * Opens a PostgreSQL database: version 15 or newer with pgvector. An advisory lock on a separate connection admits
 * either one exclusive akin or the processes of one fleet.
 */
export async function openPostgres(databaseUrl: string, options: PostgresOptions = {}): Promise<Engine> {
  const { connections = 10, name = 'akin', onNotification, timelineChanged } = options;
  // A process of a fleet that hangs in the middle of a transaction would lock its rows for the others.
  const settings = onNotification ? { ...POOL_SETTINGS, idle_in_transaction_session_timeout: '4s' } : POOL_SETTINGS;
  const connection = connectionTo(databaseUrl, name);
  const pool = openPool(connection, settings, connections, watchTimeline(timelineChanged));
  let lock: DatabaseLock | undefined;
  try {
    // First of all, because it refuses poolers that would pass settings on to connections of others.
    lock = await DatabaseLock.take(connection, settings, onNotification);
    await checkServer(pool.pg);
    await createVectorExtension(pool.pg);
  } catch (error) {
    await lock?.release();
    await pool.pg.end();
    throw openingError(error);
  }
  const held = lock;
  return poolEngine(pool, {
    check: () => held.check(),
    cancel: (processes) => held.cancel(processes),
    release: () => held.release(),
  });
}

/** Distinguishes histories by their timelines: each promotion, and each point-in-time restore, starts one. */
function watchTimeline(timelineChanged: () => void = () => {}): (client: pg.ClientBase) => Promise<void> {
  let known: string | undefined;
  return async (client) => {
    const sql = `select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;
    // Some PostgreSQL services do not show their log.
    const { rows } = await client.query<{ timeline: string | null }>(sql).catch(() => ({ rows: [] }));
    const timeline = rows[0]?.timeline;
    if (timeline === null) {
      // A connection kept until the promotion would not be checked again.
      throw new AkinError('unavailable', 'The database is a standby, and accepts no changes before it is promoted.', {
        retryAfterSeconds: STANDBY_RETRY_SECONDS,
      });
    }
    if (timeline === undefined) return;
    if (known !== undefined && timeline !== known) timelineChanged();
    known = timeline;
  };
}

async function checkServer(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ version: number; vector: string | null; encoding: string }>(
    `select current_setting('server_version_num')::int as version,
            (select default_version from pg_available_extensions where name = 'vector') as vector,
            current_setting('server_encoding') as encoding`,
  );
  const server = rows[0];
  if (server === undefined) throw new AkinError('unavailable', 'The database does not answer.');
  const major = Math.floor(server.version / 10_000);
  if (major < OLDEST_VERSION) {
    throw new AkinError('conflict', `The database is PostgreSQL ${major}; akin needs ${OLDEST_VERSION} or newer.`);
  }
  if (server.encoding !== 'UTF8') {
    throw new AkinError(
      'conflict',
      `The database has the encoding ${server.encoding}; akin needs UTF8: create database akin encoding 'UTF8' template template0.`,
    );
  }
  if (server.vector === null) {
    throw new AkinError(
      'conflict',
      `The PostgreSQL server has no pgvector. Install it (Debian, Ubuntu: apt install postgresql-${major}-pgvector; Docker: image pgvector/pgvector:pg${major}).`,
    );
  }
}

async function createVectorExtension(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query("select 1 from pg_extension where extname = 'vector'");
  if (rows.length > 0) return;
  try {
    await pool.query('create extension if not exists vector');
  } catch (cause) {
    // Two processes that start together both try.
    const again = await pool.query("select 1 from pg_extension where extname = 'vector'");
    if (again.rows.length > 0) return;
    throw new AkinError(
      'conflict',
      'The extension pgvector is not enabled in this database, and this user may not enable it. As a superuser run: create extension vector;',
      { cause },
    );
  }
}

/** The lock of the database. It ends with its connection, so it is taken again if that breaks. */
class DatabaseLock {
  readonly #config: pg.ClientConfig;
  readonly #settings: Readonly<Record<string, string>>;
  /** If given, the lock is shared with the other processes of a fleet, and the connection listens. */
  readonly #onNotification: ((text: string) => void) | undefined;
  #client: pg.Client | undefined;
  #released = false;
  #lost: AkinError | undefined;

  constructor(
    config: pg.ClientConfig,
    settings: Readonly<Record<string, string>>,
    onNotification: ((text: string) => void) | undefined,
  ) {
    this.#config = config;
    this.#settings = settings;
    this.#onNotification = onNotification;
  }

  static async take(...options: ConstructorParameters<typeof DatabaseLock>): Promise<DatabaseLock> {
    const lock = new DatabaseLock(...options);
    await lock.#connect(LOCK_WAIT_MILLISECONDS);
    return lock;
  }

  /** Throws if another akin locked the database while our connection was broken. */
  check(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Cancels the current statements of these server processes, not later ones. */
  async cancel(processes: readonly number[]): Promise<void> {
    await this.#client?.query('select pg_cancel_backend(pid) from unnest($1::int4[]) as processes (pid)', [processes]);
  }

  async release(): Promise<void> {
    this.#released = true;
    await this.#client?.end().catch(() => undefined);
  }

  /** @param maxWaitMilliseconds how long to wait for another akin */
  async #connect(maxWaitMilliseconds = 0): Promise<void> {
    const client = new pg.Client(this.#config);
    // A release ends it in every state, or it would take the lock afterwards.
    this.#client = client;
    client.on('error', () => undefined);
    try {
      await client.connect();
      await requireSessionPooling(client, async () => {
        const other = new pg.Client(this.#config);
        await other.connect();
        return other;
      });
      await setSession(client, this.#settings);
      await this.#takeOn(client, maxWaitMilliseconds);
      if (this.#onNotification) {
        const onNotification = this.#onNotification;
        client.on('notification', ({ payload }) => onNotification(payload ?? ''));
        await client.query(`listen ${CHANNEL}`);
      }
    } catch (error) {
      await client.end().catch(() => undefined);
      throw openingError(error);
    }
    client.once('end', () => {
      if (!this.#released) void this.#retake();
    });
  }

  /** @throws AkinError conflict if another akin still has the lock after `maxWaitMilliseconds` */
  async #takeOn(client: pg.Client, maxWaitMilliseconds: number): Promise<void> {
    const deadline = performance.now() + maxWaitMilliseconds;
    for (;;) {
      const { rows } = await client.query<{ taken: boolean; holder: string | null }>(
        `select pg_try_advisory_lock${this.#onNotification ? '_shared' : ''}($1) as taken,
                (select a.client_addr || ' pid ' || a.pid from pg_locks l join pg_stat_activity a using (pid)
                  where l.locktype = 'advisory' and l.objid = $1 and l.database = (select oid from pg_database where datname = current_database()) limit 1) as holder`,
        [LOCK_KEY],
      );
      if (rows[0]?.taken) return;
      if (performance.now() >= deadline) {
        throw new AkinError(
          'conflict',
          `Another akin uses this database (connection ${rows[0]?.holder ?? 'unknown'}). Stop it, or choose another database.`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MILLISECONDS));
    }
  }

  async #retake(): Promise<void> {
    while (!this.#released) {
      try {
        await this.#connect();
        this.#lost = undefined;
        return;
      } catch (error) {
        // If the server is down, statements report it. If it is locked, or a pooler is unsuitable, report it here.
        if (error instanceof AkinError && error.code === 'conflict')
          this.#lost = new AkinError('unavailable', error.message, { retryAfterSeconds: 10 });
      }
      await new Promise((resolve) => setTimeout(resolve, RELOCK_MILLISECONDS).unref());
    }
  }
}
