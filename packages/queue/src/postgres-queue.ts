import { PoolerError, requireSessionPooling, setSession } from '@akin/runtime';
import {
  Queue as BullQueue,
  createPostgresBackend,
  DEFAULT_SCHEMA,
  type PostgresConnectionOptions,
  runMigrations,
  SchemaVersionMismatchError,
  UnsupportedPostgresVersionError,
} from 'bullmq';
import pg from 'pg';
import { BackoffWorker } from './backoff-worker.ts';
import {
  type BullServer,
  createBullQueue,
  createErrorReporter,
  prefixOf,
  QueueUnavailableError,
  type SharedQueue,
  type SharedQueueConfig,
} from './bull-queue.ts';

/** BullMQ has a separate type for each server, although their methods are the same. */
type RedisLike = Awaited<ReturnType<BullServer['openQueue']>>;

/** Two queues and two workers each listen on one connection; the others execute statements. */
const CONNECTIONS = 8;
const CONNECT_MILLISECONDS = 5_000;
/** SQLSTATEs of a server that loses the connection, is full, or shuts down. */
const TRANSIENT_STATES = /^(08|53|57)/;

/**
 * A queue on PostgreSQL (`postgres://…`), for several processes of akin without Redis. Its tables are in the schema
 * `bullmq` and are created if they are missing. They may be emptied: then the jobs are lost, and the process that keeps
 * the state adds them again.
 *
 * @throws QueueUnavailableError when the server does not answer, or refuses the connection; PoolerError behind a pooler
 * that shares connections between transactions
 */
export async function createPostgresQueue(config: SharedQueueConfig): Promise<SharedQueue> {
  const prefix = prefixOf(config);
  const report = createErrorReporter(config.log, 'PostgreSQL');
  const address = {
    connectionString: config.url,
    connectionTimeoutMillis: CONNECT_MILLISECONDS,
    keepAlive: true,
    application_name: config.name ?? 'akin queue',
  };
  await checkServer(address);
  const explain = (error: unknown) => (isRefusal(error) ? error : unavailable(error, config.url));
  const pool = new pg.Pool({
    ...address,
    max: CONNECTIONS,
    onConnect: (client) => setSession(client, { search_path: DEFAULT_SCHEMA, jit: 'off' }),
  });
  let connected = true;
  let closed: Promise<void> | undefined;
  const onPoolError = (error: Error) => {
    connected = false;
    report(error);
  };
  pool.on('error', onPoolError);
  // If a connection breaks while it is in use, its statement rejects. The error event needs a listener, or it would
  // crash the process.
  pool.on('connect', (client) => {
    connected = true;
    client.on('error', onPoolError);
  });
  try {
    await makeTables(pool);
  } catch (error) {
    await pool.end();
    throw explain(error);
  }

  const connection = pool as PostgresConnectionOptions;
  const nameOf = (jobs: string) => `${prefix}-${jobs}`;
  return createBullQueue(
    {
      async openQueue(jobs) {
        const queue: unknown = new BullQueue(nameOf(jobs), { connection }, createPostgresBackend);
        return queue as RedisLike;
      },
      createWorker(jobs, process, settings) {
        const worker: unknown = new BackoffWorker(
          nameOf(jobs),
          process,
          { connection, ...settings },
          createPostgresBackend,
        );
        return worker as ReturnType<BullServer['createWorker']>;
      },
      isConnected: () => connected,
      async liveJobs(queue, ids) {
        const { rows } = await pool.query<{ id: string }>(
          `select id from job where queue = $1 and id = any($2::text[]) and state not in ('failed', 'completed')`,
          [queue.name, ids],
        );
        return new Set(rows.map(({ id }) => id));
      },
      async announce(contract) {
        await pool.query(
          `insert into akin_contracts (prefix, contract) values ($1, $2)
           on conflict (prefix, contract) do update set announced_at = now()`,
          [config.prefix ?? 'akin', contract],
        );
      },
      async announcedContracts(milliseconds) {
        const { rows } = await pool.query<{ contract: string }>(
          `select contract from akin_contracts where prefix = $1 and announced_at >= now() - $2 * interval '1 millisecond'`,
          [config.prefix ?? 'akin', milliseconds],
        );
        return rows.map(({ contract }) => contract);
      },
      workers: async () => [],
      explain,
      async close() {
        closed ??= pool.end();
        await closed;
      },
    },
    config,
    report,
  );
}

/** Check before the pool is created: its session settings would stay in an unsuitable pooler. */
async function checkServer(address: pg.ClientConfig & { readonly connectionString: string }): Promise<void> {
  const connect = async () => {
    const client = new pg.Client(address);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  let client: pg.Client | undefined;
  try {
    client = await connect();
    await requireSessionPooling(client, connect);
  } catch (error) {
    throw unavailable(error, address.connectionString);
  } finally {
    await client?.end().catch(() => undefined);
  }
}

function unavailable(cause: unknown, url: string): unknown {
  if (cause instanceof PoolerError)
    return cause.isTransient ? new QueueUnavailableError(cause.message, { cause }) : cause;
  const { host } = new URL(url);
  if (cause instanceof pg.DatabaseError) {
    return new QueueUnavailableError(`PostgreSQL at ${host} refuses the connection: ${cause.message}`, { cause });
  }
  return new QueueUnavailableError(`PostgreSQL at ${host} does not answer: start it, or name another one`, { cause });
}

/** Whether the server answers, and would refuse the same again. */
function isRefusal(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !TRANSIENT_STATES.test(error.code ?? '');
  return error instanceof SchemaVersionMismatchError || error instanceof UnsupportedPostgresVersionError;
}

async function makeTables(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await runMigrations(client, DEFAULT_SCHEMA);
    // Two processes that create the same table at the same time cause errors, even with "if not exists".
    await client.query(
      `select pg_advisory_xact_lock(hashtext('akin_contracts'));
       create table if not exists akin_contracts (
         prefix text not null, contract text not null, announced_at timestamptz not null default now(),
         primary key (prefix, contract))`,
    );
  } finally {
    client.release();
  }
}
