import { AkinError } from '@akin/domain';
import { PoolerError, setSession } from '@akin/runtime';
import pg from 'pg';
import { copyIn, copyOut } from './copy.ts';
import type { Engine, ReadOptions, Row, SqlValue, TransactionOptions, WritingTransaction } from './engine.ts';
import { PreparedStatements, send } from './prepared.ts';
import {
  type Connection,
  runCopyIn,
  runStatement,
  runTransaction,
  SESSION_SETTINGS,
  type TransactionResult,
} from './session.ts';
import { endsConnection, sqlStateOf, toAkinError } from './sqlstate.ts';
import { ROW_TYPES } from './types.ts';

const CONNECT_MILLISECONDS = 5_000;
/**
 * Filters of many documents become bitmaps. With PostgreSQL's default of 4 MB, those of 1,000,000 documents become
 * lossy: two filters of 10 % read 71,000 rows for 10,000 matches. With 32 MB they do not, up to some millions.
 */
const WORK_MEMORY = '32MB';
/**
 * When the engine is closed, running statements have this time. Then they are cancelled, repeatedly, until all have
 * ended.
 */
const LAST_STATEMENT_MILLISECONDS = 500;
const POOLER_RETRY_SECONDS = 10;

/** Statements that end a transaction are always sent. */
const ENDS: ReadonlySet<string> = new Set(['commit', 'rollback']);

export const POOL_SETTINGS: Readonly<Record<string, string>> = { ...SESSION_SETTINGS, work_mem: WORK_MEMORY };

/** Connections to a server, each with its process there. */
export interface Pool {
  readonly pg: pg.Pool;
  readonly processes: WeakMap<pg.ClientBase, number>;
}

/** The differences between the pools of akin. */
interface PoolUser {
  readonly check?: () => void;
  readonly cancel: (processes: readonly number[]) => Promise<void>;
  readonly release?: () => Promise<void>;
}

/** An engine whose server may no longer answer. */
export interface PoolEngine extends Engine {
  /** Breaks all connections: running statements reject with unavailable. */
  abandon(): void;
}

/** How to connect to a server. @param name what the server calls the connections */
export function connectionTo(databaseUrl: string, name: string): pg.ClientConfig {
  return {
    connectionString: databaseUrl,
    types: ROW_TYPES,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    keepAlive: true,
    application_name: name,
  };
}

/**
 * @param check is called with each new connection before its first use
 * @throws AkinError bad-request if the URL is invalid
 */
export function openPool(
  connection: pg.ClientConfig,
  settings: Readonly<Record<string, string>>,
  connections: number,
  check: (client: pg.ClientBase) => Promise<void> = async () => {},
): Pool {
  const processes = new WeakMap<pg.ClientBase, number>();
  let pool: pg.Pool;
  try {
    // A pool parses the URL at its first connection only; a client does at once.
    new pg.Client(connection);
    const onConnect = async (client: pg.ClientBase) => {
      processes.set(client, await setSession(client, settings));
      await check(client);
    };
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
  // A connection that breaks before its first use is noticed by its first statement.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return { pg: pool, processes };
}

export function poolEngine({ pg: pool, processes }: Pool, { check, cancel, release }: PoolUser): PoolEngine {
  const taken = new Set<pg.PoolClient>();
  /** The statement timeout of a connection in milliseconds, for statements outside of transactions, if it has one. */
  const limits = new WeakMap<pg.PoolClient, number>();
  let refusing = false;
  /** After the first cancelled statement of the shutdown, the rest of its transaction is refused. */
  const refusal = () =>
    Promise.reject(new AkinError('unavailable', 'The database is being closed.', { retryAfterSeconds: 2 }));
  const unlessRefused = (client: pg.PoolClient): Connection => ({
    query: (sql, params, name) => (refusing && !ENDS.has(sql) ? refusal() : send(client, sql, params, name)),
    copy: (query, maxBytes) => (refusing ? refusal() : copyOut(client, query, maxBytes)),
    copyIn: (copies) => (refusing ? refusal() : copyIn(client, copies)),
  });
  const cancelStatements = async () => {
    const atWork = [...taken].flatMap((client) => processes.get(client) ?? []);
    if (atWork.length > 0) await cancel(atWork);
  };
  const close = async () => {
    const timer = setInterval(() => {
      refusing = true;
      cancelStatements().catch(() => undefined);
    }, LAST_STATEMENT_MILLISECONDS);
    await pool.end();
    clearInterval(timer);
    await release?.();
  };

  const withClient = async <T>(
    work: (connection: Connection, client: pg.PoolClient) => Promise<TransactionResult<T>>,
  ): Promise<T> => {
    check?.();
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw openingError(error);
    }
    // A connection that breaks in use rejects its statement. The event alone must not crash the process.
    const ignore = () => undefined;
    client.on('error', ignore);
    taken.add(client);
    const release = (failure?: Error) => {
      client.off('error', ignore);
      taken.delete(client);
      client.release(failure);
    };
    try {
      const { result, free } = await work(unlessRefused(client), client);
      if (free === undefined) release();
      else void free.then(() => release());
      return result;
    } catch (error) {
      release(error instanceof AkinError && isBroken(error) ? error : undefined);
      throw error;
    }
  };

  /** @param limit milliseconds; 0: none. It stays with the connection, because the next user usually wants the same. */
  const runAlone = <T>(limit: number, run: (connection: Connection) => Promise<T>) =>
    withClient(async (connection, client) => {
      if ((limits.get(client) ?? 0) !== limit) {
        await runStatement(connection, `set statement_timeout = ${limit}`);
        limits.set(client, limit);
      }
      return { result: await run(connection) };
    });

  const prepared = new PreparedStatements();
  let closed: Promise<void> | undefined;
  let lastSearch = Number.NEGATIVE_INFINITY;
  return {
    kind: 'postgres',
    query: <R extends Row>(sql: string, params?: readonly SqlValue[]) =>
      runAlone(0, (connection) => runStatement<R>(connection, sql, params)),
    copyIn: (copies) => runAlone(0, (connection) => runCopyIn(connection, copies)),
    read: <R extends Row>(sql: string, params: readonly SqlValue[], options: ReadOptions) => {
      if (options.isSearch ?? true) lastSearch = performance.now();
      const name = options.prepared ? prepared.nameOf(sql) : undefined;
      return runAlone(Math.ceil(options.timeoutMilliseconds), (connection) =>
        runStatement<R>(connection, sql, params, name),
      );
    },
    transaction: <T>(
      run: (tx: WritingTransaction, first: readonly Row[]) => Promise<T>,
      options: TransactionOptions = {},
    ) => {
      if (options.snapshot) lastSearch = performance.now();
      return withClient((connection, client) => {
        const { timeoutMilliseconds = limits.has(client) ? 0 : undefined } = options;
        const limit = timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds };
        return runTransaction(connection, run, { ...options, ...limit });
      });
    },
    sinceLastSearch: () => performance.now() - lastSearch,
    cancelStatements,
    poolUse: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    abandon() {
      refusing = true;
      // Ending a client during a statement breaks its connection.
      for (const client of taken) (client as unknown as pg.Client).end().catch(() => undefined);
    },
    [Symbol.asyncDispose]: () => {
      closed ??= close();
      return closed;
    },
  };
}

/** Whether an error says that its connection is of no more use. The server ends one after it has said why. */
function isBroken(error: AkinError): boolean {
  return error.code === 'unavailable' && (sqlStateOf(error) === undefined || endsConnection(error.cause));
}

export function openingError(error: unknown): AkinError {
  if (!(error instanceof PoolerError)) return toAkinError(error);
  return new AkinError(error.isTransient ? 'unavailable' : 'conflict', error.message, {
    cause: error,
    ...(error.isTransient ? { retryAfterSeconds: POOLER_RETRY_SECONDS } : {}),
  });
}
