import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

/** The part of a pg connection that is used here: a client, or one of a pool. */
export interface PostgresConnection extends NodeJS.EventEmitter {
  query(statement: {
    readonly text: string;
    readonly values?: unknown[];
    /** Milliseconds. */
    readonly query_timeout: number;
  }): Promise<{ readonly rows: Row[] }>;
}

// biome-ignore lint/suspicious/noExplicitAny: each statement decides what its rows hold.
type Row = Record<string, any>;

/**
 * A pooler between akin and PostgreSQL does not support what akin needs. The message says what to do, without
 * passwords.
 */
export class PoolerError extends Error {
  override readonly name = 'PoolerError';
  /** Whether the problem may pass without a change of the configuration. */
  readonly isTransient: boolean;

  constructor(message: string, isTransient: boolean, options?: ErrorOptions) {
    super(message, options);
    this.isTransient = isTransient;
  }
}

const STATEMENT_TIMEOUT_MILLISECONDS = 5_000;
const REMEDY =
  'akin needs lasting sessions (settings, LISTEN, advisory locks). Set pool_mode = session for this database in PgBouncer, or connect to PostgreSQL directly.';

/**
 * Gives a new connection its settings by a statement, because poolers refuse or forget those of the start-up message.
 * Checks in a second transaction that they last.
 *
 * @returns the id of the server process behind the connection, which a pooler does not reveal at the start
 * @throws PoolerError if the settings do not last, or the server does not answer within 5 seconds
 */
export async function setSession(
  client: PostgresConnection,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const names = Object.keys(settings);
  const [set] = await ask(
    client,
    `select pg_backend_pid() as pid, array_agg(set_config(name, value, false) order by position) as held
       from unnest($1::text[], $2::text[]) with ordinality as settings (name, value, position)`,
    [names, Object.values(settings)],
  );
  const [later] = await ask(
    client,
    `select pg_backend_pid() as pid, array_agg(name) filter (where current_setting(name) is distinct from value) as lost
       from unnest($1::text[], $2::text[]) as settings (name, value)`,
    [names, set?.held],
  );
  if (later?.lost || later?.pid !== set?.pid) {
    throw new PoolerError(`A pooler removed settings of the session (${later?.lost ?? 'all'}). ${REMEDY}`, false);
  }
  return later?.pid;
}

/**
 * Refuses poolers that give the server connection to other clients between transactions or statements. PostgreSQL
 * itself is recognized by its process id, which it sends at start-up. Behind a pooler the result does not depend on its
 * load or the size of its pool: an idle connection receives a notification of another one only if it keeps its own
 * server connection.
 *
 * @param openOther opens a second connection of the same kind, which is closed again
 * @throws PoolerError
 */
export async function requireSessionPooling(
  client: PostgresConnection,
  openOther: () => Promise<PostgresConnection & { end(): Promise<void> }>,
): Promise<void> {
  const [own] = await ask(client, 'select pg_backend_pid() as pid');
  if (own?.pid === (client as { processID?: number | null }).processID) return;
  const channel = `akin_pooler_${randomUUID().replaceAll('-', '')}`;
  try {
    await ask(client, 'begin');
    await ask(client, `listen ${channel}`);
    await ask(client, 'commit');
  } catch (cause) {
    if (!/statement pooling/.test((cause as Error).message)) throw cause;
    throw new PoolerError(
      `The pooler in front of PostgreSQL pools by statement (statement pooling). ${REMEDY}`,
      false,
      {
        cause,
      },
    );
  }
  let other: Awaited<ReturnType<typeof openOther>>;
  try {
    other = await openOther();
    other.on('error', () => undefined);
  } catch (cause) {
    throw noConnectionError(cause);
  }
  const stop = new AbortController();
  // A signal of AbortSignal.timeout() that only AbortSignal.any() references may be garbage-collected too early.
  const late = setTimeout(() => stop.abort(), STATEMENT_TIMEOUT_MILLISECONDS);
  const nextNotification = (one: PostgresConnection) => once(one, 'notification', { signal: stop.signal });
  try {
    // The other connection receives the notification only if the pooler gave it the server connection that listens.
    const first = Promise.race([
      nextNotification(client).then(
        () => true,
        () => false,
      ),
      nextNotification(other).then(
        () => false,
        () => false,
      ),
    ]);
    await ask(other, `notify ${channel}`).catch((cause) => {
      throw noConnectionError(cause);
    });
    if (!(await first)) {
      throw new PoolerError(
        `The pooler in front of PostgreSQL pools by transaction (transaction pooling). ${REMEDY}`,
        false,
      );
    }
    await ask(client, `unlisten ${channel}`);
  } finally {
    clearTimeout(late);
    stop.abort();
    await other.end().catch(() => undefined);
  }
}

function noConnectionError(cause: unknown): PoolerError {
  return new PoolerError(
    'The pooler in front of PostgreSQL gave no second connection. In session pooling each connection of akin needs one of the server: up to 11 per process, and 19 with a queue on PostgreSQL. Raise default_pool_size and max_db_connections in PgBouncer.',
    true,
    { cause },
  );
}

async function ask(client: PostgresConnection, text: string, values?: unknown[]): Promise<Row[]> {
  try {
    const statement = { text, query_timeout: STATEMENT_TIMEOUT_MILLISECONDS, ...(values ? { values } : {}) };
    return (await client.query(statement)).rows;
  } catch (cause) {
    if ((cause as Error).message !== 'Query read timeout') throw cause;
    throw new PoolerError(
      'PostgreSQL accepted the connection and did not answer within 5 seconds. A pooler in front of it may have no connection left: raise default_pool_size in PgBouncer.',
      true,
      { cause },
    );
  }
}
