import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianPrograms } from './debian.ts';
import { postgresIsUp, redisIsUp } from './is-up.ts';
import { freePort, type Server, startServer } from './server.ts';

const run = promisify(execFile);

/**
 * Starts PostgreSQL 17 with pgvector from unpacked packages, with a new data folder below `folder`. After a crash of
 * the server, committed data is still there; only a power failure would lose it (`fsync=off`). The default sort order
 * is English, not by bytes, so that tests notice a statement that forgot its collation.
 */
export async function startLocalPostgres(folder: string): Promise<Server> {
  const { postgres } = await debianPrograms();
  const data = await initPostgres(folder);
  const user = await userForPostgres(data);
  const port = await freePort();
  const url = `postgres://akin@127.0.0.1:${port}/postgres`;
  const command = [...user, postgres, '-D', data, ...postgresSettings(port)];
  return startServer(command, 'QUIT', url, () => postgresIsUp(url));
}

/**
 * Settings that differ from PostgreSQL's defaults. The others stay, as users have them: small memory, and the
 * just-in-time compiler.
 */
export function postgresSettings(port: number): string[] {
  const settings = {
    // Only TCP: several servers may run on one machine, and the path of a socket has at most 107 bytes.
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    // Otherwise thousands of small commits would each wait for the disk. Only a power failure makes a difference.
    fsync: 'off',
    full_page_writes: 'off',
    // Each running test file has separate connection pools.
    max_connections: 200,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * PostgreSQL and PgBouncer refuse to run as root: then they run as `postgres`, or as `nobody` if that user does not
 * exist.
 */
export async function userForPostgres(data: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const known = await run('id', ['--user', 'postgres']).catch(() => null);
  const user = known === null ? 'nobody' : 'postgres';
  await run('chown', ['-R', user, data]);
  const group = (await run('id', ['--group', user])).stdout.trim();
  return ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups'];
}

/** Starts Redis from unpacked packages; it keeps all data in memory. */
export async function startLocalRedis(folder: string): Promise<Server> {
  const { redis } = await debianPrograms();
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const settings = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--save', '', '--appendonly', 'no'];
  return startServer([redis, ...settings, '--maxmemory-policy', 'noeviction'], 'TERM', url, () => redisIsUp(url));
}

/** Creates a data folder of PostgreSQL below `folder`. @returns its path */
export async function initPostgres(folder: string): Promise<string> {
  const { initdb } = await debianPrograms();
  const data = join(folder, 'postgres');
  await mkdir(data, { mode: 0o700 });
  const user = await userForPostgres(data);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  const [program = '', ...args] = [
    ...user,
    ...[initdb, `--pgdata=${data}`, '--username=akin', '--auth=trust', '--no-sync', '--no-instructions', ...locale],
  ];
  await run(program, args, { cwd: folder });
  return data;
}
