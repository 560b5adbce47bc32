import { AkinError, parseUrl } from '@akin/domain';
import type { Engine, Queryable } from '../engine/engine.ts';
import { ShardServerUnavailableError } from '../engine/sqlstate.ts';

/*
 * Shards of a collection may be on other PostgreSQL servers: their partitions of `documents` and of descriptors are
 * then foreign tables of postgres_fdw. All processes of akin connect to only one server, which connects to the others.
 * Definitions of tables are sent there by dblink, with the same addresses. See
 * docs/adr/0038-shards-on-several-servers.md.
 */

/** In lists of servers: the one that akin is connected to. */
export const MAIN_SERVER = 'main';

/** Prefix of the names of servers in PostgreSQL. */
const PREFIX = 'akin_';
const NAME = /^[a-z][a-z0-9_]{0,30}$/;
const OLDEST_VERSION = 16;

interface Settings {
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The server of each shard; undefined for the main one. Empty if all shards are on the main server. */
export function serversOf({ settings }: Settings): readonly (string | undefined)[] {
  const servers = settings.shardServers;
  if (!Array.isArray(servers)) return [];
  return servers.map((name) => (name === MAIN_SERVER ? undefined : String(name)));
}

/** The shards on other servers. */
export function remoteShards(collection: Settings): { readonly shard: number; readonly server: string }[] {
  return serversOf(collection).flatMap((server, shard) => (server === undefined ? [] : [{ shard, server }]));
}

/** Whether some shards are on other servers. */
export function hasServers(collection: Settings): boolean {
  return remoteShards(collection).length > 0;
}

/** The name of a server in statements that create foreign tables. */
export function foreignServer(server: string): string {
  if (!NAME.test(server)) throw new Error(`${server} cannot be the name of a server`);
  return PREFIX + server;
}

/**
 * Runs statements on another server, outside of the transaction of `tx`: they stay if that is rolled back, so all of
 * them must be idempotent. `tx` must not have touched the tables that they lock.
 */
export async function runOnServer(tx: Queryable, server: string, sql: string): Promise<void> {
  await tx.query('select dblink_exec($1, $2)', [foreignServer(server), sql]).catch(withServerName(server));
}

/** The rows of a query on another server. @param columns names and types of their columns, as SQL */
export function queryOnServer<R extends object>(
  tx: Queryable,
  server: string,
  sql: string,
  columns: string,
): Promise<R[]> {
  return tx
    .query<R>(`select * from dblink($1, $2) as t (${columns})`, [foreignServer(server), sql])
    .catch(withServerName(server));
}

const withServerName = (server: string) => (error: unknown) => {
  if (error instanceof AkinError && error.code === 'unavailable')
    throw new ShardServerUnavailableError(`shard server ${server}`, error);
  throw error;
};

/** The names of all servers for shards, other than the main one. */
export async function listServers(tx: Queryable): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `select substr(srvname, ${PREFIX.length + 1}) as name from pg_foreign_server where starts_with(srvname, '${PREFIX}') order by 1`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Distributes the shards of a new collection over servers, in turn.
 *
 * @throws AkinError bad-request if one of them is unknown
 */
export async function spreadShards(tx: Queryable, shards: number, servers: readonly string[]): Promise<string[]> {
  const known = new Set([MAIN_SERVER, ...(await listServers(tx))]);
  const unknown = servers.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new AkinError(
      'bad-request',
      `There is no shard server ${JSON.stringify(unknown.slice(0, 100))}. Known servers: ${[...known].join(', ')}. Add others with --shard-servers.`,
    );
  }
  if (shards < Math.max(2, servers.length)) {
    throw new AkinError(
      'bad-request',
      `There must be at least as many shards as servers, and at least two: give shards=${Math.max(2, servers.length)} or more.`,
    );
  }
  return Array.from({ length: shards }, (_, shard) => servers[shard % servers.length] ?? MAIN_SERVER);
}

/** Any number that nothing else uses. */
const REGISTER_LOCK = 0x616b6973;

/** Settings of the sessions on other servers. */
const SESSION = {
  jit: 'off',
  timezone: 'UTC',
  datestyle: 'ISO',
  // The work of an interrupted process ends soon, so the wait is short.
  lock_timeout: '5s',
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
};

/** Options of `postgres_fdw`. The values were chosen by measurement. */
const SERVER_OPTIONS: Readonly<Record<string, string>> = {
  extensions: 'vector',
  async_capable: 'true',
  fetch_size: '5000',
  batch_size: '1000',
  connect_timeout: '3',
  keepalives_idle: '10',
  keepalives_interval: '5',
  keepalives_count: '3',
  application_name: 'akin shards',
  options: Object.entries(SESSION)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' '),
};

/**
 * Registers servers at the main one, or updates their addresses. Addresses and passwords are stored there as those of a
 * foreign server and its user.
 *
 * @param servers URLs (postgres://…) by name
 * @throws AkinError bad-request for an invalid name or URL; conflict if the database does not support it
 */
export async function registerServers(engine: Engine, servers: ReadonlyMap<string, string>): Promise<void> {
  if (servers.size === 0) return;
  if (engine.kind !== 'postgres') {
    throw new AkinError('bad-request', 'Only a store in PostgreSQL has shards on other servers: give --database-url.');
  }
  await engine.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [REGISTER_LOCK]);
    const [main] = await tx.query<{ version: number }>(
      `select current_setting('server_version_num')::int / 10000 as version`,
    );
    if ((main?.version ?? 0) < OLDEST_VERSION) {
      throw new AkinError('conflict', `Shards on several servers need PostgreSQL ${OLDEST_VERSION} or newer.`);
    }
    for (const extension of ['postgres_fdw', 'dblink']) await createExtension(tx, extension);
    for (const [name, url] of servers) await registerServer(tx, name, url);
  });
}

async function createExtension(tx: Queryable, name: string): Promise<void> {
  const there = await tx.query('select from pg_extension where extname = $1', [name]);
  if (there.length > 0) return;
  await tx.query(`create extension ${name}`).catch((error: unknown) => {
    throw new AkinError(
      'conflict',
      `Shards on several servers need the extension ${name}. Let a superuser run in the database: create extension ${name};${name === 'postgres_fdw' ? ' grant usage on foreign data wrapper postgres_fdw to <the user of akin>;' : ''}`,
      { cause: error },
    );
  });
}

async function registerServer(tx: Queryable, name: string, url: string): Promise<void> {
  if (!NAME.test(name) || name === MAIN_SERVER) {
    throw new AkinError(
      'bad-request',
      `${JSON.stringify(name.slice(0, 100))} cannot be the name of a shard server. A name has up to 31 small letters, digits and underscores, begins with a letter, and is not ${MAIN_SERVER}.`,
    );
  }
  const { options, user } = addressOf(name, url);
  const server = foreignServer(name);
  const [known] = await tx.query<{ server: string[] | null; user: string[] | null; mapped: boolean }>(
    `select s.srvoptions as server, u.umoptions as user, u.umid is not null as mapped
       from pg_foreign_server s left join pg_user_mappings u on u.srvid = s.oid and u.usename = current_user
      where s.srvname = $1`,
    [server],
  );
  if (known === undefined) {
    await tx.query(`create server ${server} foreign data wrapper postgres_fdw options (${optionsSql(options)})`);
  } else if (!isSame(known.server, options)) {
    await tx.query(`alter server ${server} options (${changesSql(known.server, options)})`);
  }
  if (known?.mapped !== true) {
    await tx.query(`create user mapping for current_user server ${server} options (${optionsSql(user)})`);
  } else if (!isSame(known.user, user)) {
    await tx.query(`alter user mapping for current_user server ${server} options (${changesSql(known.user, user)})`);
  }
}

type Options = ReadonlyMap<string, string>;

function addressOf(name: string, url: string): { options: Options; user: Options } {
  const parsed = parseUrl(url);
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol) || parsed.hostname === '') {
    // Not the URL itself, because it contains a password.
    throw new AkinError(
      'bad-request',
      `The URL of the shard server ${name} must be postgres://user:password@host:port/database.`,
    );
  }
  const options = new Map(Object.entries(SERVER_OPTIONS));
  for (const [option, value] of parsed.searchParams) options.set(option, value);
  options
    .set('host', parsed.hostname.replace(/^\[|\]$/g, ''))
    .set('port', parsed.port || '5432')
    .set('dbname', decodeURIComponent(parsed.pathname.slice(1)) || decodeURIComponent(parsed.username));
  const user = new Map<string, string>();
  if (parsed.username !== '') user.set('user', decodeURIComponent(parsed.username));
  if (parsed.password !== '') user.set('password', decodeURIComponent(parsed.password));
  return { options, user };
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const optionsSql = (options: Options) =>
  [...options].map(([name, value]) => `"${name.replaceAll('"', '""')}" ${literal(value)}`).join(', ');

function knownOptions(known: readonly string[] | null): Map<string, string> {
  return new Map((known ?? []).map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]));
}

function isSame(known: readonly string[] | null, wanted: Options): boolean {
  const there = knownOptions(known);
  return there.size === wanted.size && [...wanted].every(([name, value]) => there.get(name) === value);
}

function changesSql(known: readonly string[] | null, wanted: Options): string {
  const there = knownOptions(known);
  const changes = [...wanted].map(
    ([name, value]) => `${there.has(name) ? 'set' : 'add'} "${name.replaceAll('"', '""')}" ${literal(value)}`,
  );
  const gone = [...there.keys()]
    .filter((name) => !wanted.has(name))
    .map((name) => `drop "${name.replaceAll('"', '""')}"`);
  return [...changes, ...gone].join(', ');
}
