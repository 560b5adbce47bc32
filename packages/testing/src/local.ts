import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresAnswers, redisAnswers } from './answers.ts';
import { debianPrograms } from './debian.ts';
import { freePort, type Server, startServer } from './server.ts';

const run = promisify(execFile);

/**
 * Starts PostgreSQL 17 with pgvector from unpacked packages, with a new data folder below `folder`. A crash of the
 * server loses nothing that was committed; only a power cut would (`fsync=off`). Text sorts as in English, not by
 * bytes, so that a statement which forgot its collation is seen.
 */
export async function startLocalPostgres(folder: string): Promise<Server> {
  const { postgres } = await debianPrograms();
  const data = await initPostgres(folder);
  const user = await userForPostgres(data);
  const port = await freePort();
  const url = `postgres://akin@127.0.0.1:${port}/postgres`;
  const command = [...user, postgres, '-D', data, ...postgresSettings(port)];
  return startServer(command, 'QUIT', url, () => postgresAnswers(url));
}

/**
 * All other settings are those that PostgreSQL comes with, as users have them: small memory, and the just-in-time
 * compiler.
 */
export function postgresSettings(port: number): string[] {
  const settings = {
    // Where it answers: several may run on one machine, and a path of a socket has at most 107 bytes.
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    // Thousands of small commits each wait for the disk else. Only a loss of power would tell the difference.
    fsync: 'off',
    full_page_writes: 'off',
    // Each test file that runs has pools of its own.
    max_connections: 200,
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** PostgreSQL and PgBouncer refuse to run as root: then they run as `postgres`, or `nobody` where there is no such user. */
export async function userForPostgres(data: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const known = await run('id', ['--user', 'postgres']).catch(() => null);
  const user = known === null ? 'nobody' : 'postgres';
  await run('chown', ['-R', user, data]);
  const group = (await run('id', ['--group', user])).stdout.trim();
  return ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups'];
}

/** Starts Redis from unpacked packages; it keeps everything in memory and nothing on disk. */
export async function startLocalRedis(folder: string): Promise<Server> {
  const { redis } = await debianPrograms();
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const settings = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--save', '', '--appendonly', 'no'];
  return startServer([redis, ...settings, '--maxmemory-policy', 'noeviction'], 'TERM', url, () => redisAnswers(url));
}

/** Makes a data folder of PostgreSQL below `folder`. @returns its path */
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
