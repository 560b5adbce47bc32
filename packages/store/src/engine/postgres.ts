import { AkinError } from '@akin/domain';
import { PoolerError, requireSessionPooling, setSession } from '@akin/runtime';
import pg from 'pg';
import { copyOut } from './copy-out.ts';
import type { Engine, Row, SqlValue, Transaction, TransactionOptions } from './engine.ts';
import { type Connection, runStatement, runTransaction, SESSION_SETTINGS } from './session.ts';
import { sqlStateOf, toAkinError } from './sqlstate.ts';
import { ROW_TYPES } from './types.ts';

const CONNECT_MILLISECONDS = 5_000;
const OLDEST_VERSION = 15;
/**
 * Filters of many documents become bitmaps. In PostgreSQL's 4 MB those of 1,000,000 documents forget which rows of a
 * page match: two filters of 10 % read 71,000 rows for 10,000 matches. In 32 MB they do not, up to some millions.
 */
const WORK_MEMORY = '32MB';
/** Any number that nobody else uses: "akin" in ASCII. */
const LOCK_KEY = 0x616b696e;
const RELOCK_MILLISECONDS = 1_000;
/** A caller that closes the engine gives statements at work so long, and cancels them then, again and again until all ended. */
const LAST_STATEMENT_MILLISECONDS = 500;
const POOLER_RETRY_SECONDS = 10;

export interface PostgresOptions {
  /** Size of the pool; 10 when not given. */
  readonly connections?: number;
  /** What the server calls the connections; `akin` when not given. */
  readonly name?: string | undefined;
  /**
   * Several processes of a fleet use the database together. Called with what any of them tells by `pg_notify` on
   * {@link CHANNEL}, ours included; what is told while a connection is broken gets lost.
   */
  readonly hear?: (text: string) => void;
}

/** What ends a transaction is always let through. */
const ENDS: ReadonlySet<string> = new Set(['commit', 'rollback']);

/** What processes of a fleet tell each other about goes over this channel. */
export const CHANNEL = 'akin';

/**
 * Opens a PostgreSQL database: version 15 or newer with pgvector. An advisory lock, held on its own connection, lets in
 * either one akin that is alone or the processes of one fleet.
 */
export async function openPostgres(databaseUrl: string, options: PostgresOptions = {}): Promise<Engine> {
  const { connections = 10, name = 'akin', hear } = options;
  // A process of a fleet that hangs in the middle of a transaction would keep the others from its rows.
  const alone = { ...SESSION_SETTINGS, work_mem: WORK_MEMORY };
  const settings = hear ? { ...alone, idle_in_transaction_session_timeout: '4s' } : alone;
  const connection = {
    connectionString: databaseUrl,
    types: ROW_TYPES,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    keepAlive: true,
    application_name: name,
  };
  const processes = new WeakMap<pg.ClientBase, number>();
  let pool: pg.Pool;
  try {
    // A pool reads the address at its first connection only; a client does at once.
    new pg.Client(connection);
    const onConnect = async (client: pg.ClientBase) => void processes.set(client, await setSession(client, settings));
    pool = new pg.Pool({ ...connection, max: connections, onConnect });
  } catch (cause) {
    throw new AkinError(
      'bad-request',
      'The database address cannot be read. It has the form postgres://user:password@host:5432/database.',
      { cause },
    );
  }
  // An idle connection that breaks is replaced at the next use.
  pool.on('error', () => undefined);
  // One that breaks in the moment in which it is made, before anybody has it, is noticed by its first statement.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let lock: DatabaseLock | undefined;
  try {
    // First of all, for it refuses poolers in which settings would come to connections of others.
    lock = await DatabaseLock.take(connection, settings, hear);
    await checkServer(pool);
    await createVectorExtension(pool);
  } catch (error) {
    await lock?.release();
    await pool.end();
    throw openingError(error);
  }
  const held = lock;
  /** Connections that somebody has. */
  const taken = new Set<pg.PoolClient>();
  let refusing = false;
  /** From the first cancelled statement of the end on, what is in a transaction ends it. */
  const refusal = () =>
    Promise.reject(new AkinError('unavailable', 'The database is being closed.', { retryAfterSeconds: 2 }));
  const unlessRefused = (client: pg.PoolClient): Connection => ({
    query: (sql, params) => (refusing && !ENDS.has(sql) ? refusal() : client.query(sql, params)),
    copy: (query) => (refusing ? refusal() : copyOut(client, query)),
  });
  const cancelStatements = async () => {
    const atWork = [...taken].flatMap((client) => processes.get(client) ?? []);
    if (atWork.length > 0) await held.cancel(atWork);
  };
  const close = async () => {
    const timer = setInterval(() => {
      refusing = true;
      cancelStatements().catch(() => undefined);
    }, LAST_STATEMENT_MILLISECONDS);
    await pool.end();
    clearInterval(timer);
    await held.release();
  };

  const withClient = async <T>(work: (client: Connection) => Promise<T>): Promise<T> => {
    held.check();
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw openingError(error);
    }
    // A connection that breaks while it is out rejects its statement; the event alone must not end the process.
    const ignore = () => undefined;
    client.on('error', ignore);
    taken.add(client);
    let failure: Error | undefined;
    try {
      return await work(unlessRefused(client));
    } catch (error) {
      if (error instanceof AkinError && error.code === 'unavailable') failure = error;
      throw error;
    } finally {
      client.off('error', ignore);
      taken.delete(client);
      client.release(failure !== undefined && sqlStateOf(failure) === undefined ? failure : undefined);
    }
  };

  let closed: Promise<void> | undefined;
  let lastSearch = Number.NEGATIVE_INFINITY;
  return {
    kind: 'postgres',
    query: <R extends Row>(sql: string, params?: readonly SqlValue[]) =>
      withClient((client) => runStatement<R>(client, sql, params)),
    transaction: <T>(run: (tx: Transaction, first: readonly Row[]) => Promise<T>, options: TransactionOptions = {}) => {
      if (options.snapshot) lastSearch = performance.now();
      return withClient((client) => runTransaction(client, run, options));
    },
    sinceLastSearch: () => performance.now() - lastSearch,
    cancelStatements,
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    [Symbol.asyncDispose]: () => {
      closed ??= close();
      return closed;
    },
  };
}

function openingError(error: unknown): AkinError {
  if (!(error instanceof PoolerError)) return toAkinError(error);
  return new AkinError(error.passing ? 'unavailable' : 'conflict', error.message, {
    cause: error,
    ...(error.passing ? { retryAfterSeconds: POOLER_RETRY_SECONDS } : {}),
  });
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
      'The extension pgvector is not enabled in this database, and this user may not do it. As a superuser run: create extension vector;',
      { cause },
    );
  }
}

type ConnectionConfig = pg.ClientConfig;

/** The right to use the database. Ends with its connection, so it is taken again when that breaks. */
class DatabaseLock {
  readonly #config: ConnectionConfig;
  readonly #settings: Readonly<Record<string, string>>;
  /** Given: the lock is shared with the other processes of a fleet, and the connection listens. */
  readonly #hear: ((text: string) => void) | undefined;
  #client: pg.Client | undefined;
  #released = false;
  #lost: AkinError | undefined;

  private constructor(
    config: ConnectionConfig,
    settings: Readonly<Record<string, string>>,
    hear: ((text: string) => void) | undefined,
  ) {
    this.#config = config;
    this.#settings = settings;
    this.#hear = hear;
  }

  static async take(
    config: ConnectionConfig,
    settings: Readonly<Record<string, string>>,
    hear?: (text: string) => void,
  ): Promise<DatabaseLock> {
    const lock = new DatabaseLock(config, settings, hear);
    await lock.#connect();
    return lock;
  }

  /** Throws when another akin took the database while our connection was broken. */
  check(): void {
    if (this.#lost !== undefined) throw this.#lost;
  }

  /** Cancels what these processes of the server are at; not what queries do that begin later. */
  async cancel(processes: readonly number[]): Promise<void> {
    await this.#client?.query('select pg_cancel_backend(pid) from unnest($1::int4[]) as processes (pid)', [processes]);
  }

  async release(): Promise<void> {
    this.#released = true;
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const client = new pg.Client(this.#config);
    client.on('error', () => undefined);
    try {
      await client.connect();
      await requireSessionPooling(client, async () => {
        const other = new pg.Client(this.#config);
        await other.connect();
        return other;
      });
      await setSession(client, this.#settings);
      const { rows } = await client.query<{ taken: boolean; holder: string | null }>(
        `select pg_try_advisory_lock${this.#hear ? '_shared' : ''}($1) as taken,
                (select a.client_addr || ' pid ' || a.pid from pg_locks l join pg_stat_activity a using (pid)
                  where l.locktype = 'advisory' and l.objid = $1 and l.database = (select oid from pg_database where datname = current_database()) limit 1) as holder`,
        [LOCK_KEY],
      );
      if (!rows[0]?.taken) {
        throw new AkinError(
          'conflict',
          `Another akin uses this database (connection ${rows[0]?.holder ?? 'unknown'}). Stop it, or choose another database.`,
        );
      }
      if (this.#hear) {
        const hear = this.#hear;
        client.on('notification', ({ payload }) => hear(payload ?? ''));
        await client.query(`listen ${CHANNEL}`);
      }
    } catch (error) {
      await client.end().catch(() => undefined);
      throw openingError(error);
    }
    this.#client = client;
    client.once('end', () => {
      if (!this.#released) void this.#retake();
    });
  }

  async #retake(): Promise<void> {
    while (!this.#released) {
      try {
        await this.#connect();
        this.#lost = undefined;
        return;
      } catch (error) {
        // Down: statements say so themselves. Taken, or a pooler that will not do: say so.
        if (error instanceof AkinError && error.code === 'conflict')
          this.#lost = new AkinError('unavailable', error.message, { retryAfterSeconds: 10 });
      }
      await new Promise((resolve) => setTimeout(resolve, RELOCK_MILLISECONDS).unref());
    }
  }
}
