import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { debianPrograms, hasDebianPrograms } from './debian.ts';
import { testFolder } from './files-folder.ts';
import { postgresIsUp, redisIsUp } from './is-up.ts';
import { initPostgres, postgresSettings, userForPostgres } from './local.ts';
import { freePort, type Server, startServer } from './server.ts';

const run = promisify(execFile);

/** A server for a single test, which may kill it. Data that it wrote to its disk is still there after a restart. */
export interface KillableServer extends AsyncDisposable {
  readonly url: string;
  /** Kills it with SIGKILL, so that it closes no connection and no file. */
  kill(): Promise<void>;
  /** Starts it again at the same URL. Resolves when it answers. */
  start(): Promise<void>;
}

export interface KillableRedis extends KillableServer {
  /** Limits its memory to the current use, until the limit is removed: it rejects every command that needs memory. */
  setFull(full: boolean): Promise<void>;
  /** Deletes all data. */
  wipe(): Promise<void>;
}

/** Whether servers that a test may kill are available: containers of Docker cannot be killed this way. */
export const canKillServers = hasDebianPrograms;

/** A PostgreSQL 17 with pgvector. Killing it kills all its processes, like a power failure of its host. */
export async function killablePostgres(): Promise<KillableServer> {
  const { postgres } = await debianPrograms();
  const folder = await newFolder();
  const data = await initPostgres(folder);
  const port = await freePort();
  // The operating system keeps what a process has written, even if the process is killed.
  const command = [...(await userForPostgres(data)), postgres, '-D', data, ...postgresSettings(port)];
  const url = `postgres://akin@127.0.0.1:${port}/postgres`;
  const isUp = () => postgresIsUp(url);
  const pid = async () => Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  return killable(folder, url, () => startServer(command, 'QUIT', url, isUp), pid);
}

/** A Redis that keeps its jobs in an append-only file, as recommended for production. */
export async function killableRedis(): Promise<KillableRedis> {
  const { redis } = await debianPrograms();
  const folder = await newFolder();
  const port = await freePort();
  const settings = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder, '--save', '', '--appendonly', 'yes'];
  const command = [redis, ...settings, '--maxmemory-policy', 'noeviction'];
  const url = `redis://127.0.0.1:${port}`;
  const ask = async <Value>(work: (client: Redis) => Promise<Value>): Promise<Value> => {
    const client = new Redis(url);
    client.on('error', () => {});
    try {
      return await work(client);
    } finally {
      client.disconnect();
    }
  };
  const pid = () => ask(async (client) => Number(/process_id:(\d+)/.exec(await client.info('server'))?.[1]));
  const server = await killable(folder, url, () => startServer(command, 'TERM', url, () => redisIsUp(url)), pid);
  return {
    ...server,
    setFull: (full) => ask(async (client) => void (await client.config('SET', 'maxmemory', full ? '1' : '0'))),
    wipe: () => ask(async (client) => void (await client.flushall())),
  };
}

export async function killable(
  folder: string,
  url: string,
  startIt: () => Promise<Server>,
  pidOf: () => Promise<number>,
): Promise<KillableServer> {
  let server = await startIt();
  return {
    url,
    async kill() {
      const pid = await pidOf();
      // PostgreSQL's child processes notice the end of their parent and also end, but with a delay.
      const children = await run('ps', ['-o', 'pid=', '--ppid', String(pid)]).catch(() => ({ stdout: '' }));
      for (const one of [pid, ...children.stdout.split('\n').filter(Boolean).map(Number)]) {
        try {
          process.kill(one, 'SIGKILL');
        } catch {
          // The process ended in the meantime.
        }
      }
      await server[Symbol.asyncDispose]();
    },
    async start() {
      for (const deadline = Date.now() + 300_000; ; await delay(100)) {
        try {
          server = await startIt();
          return;
        } catch (error) {
          // Remaining processes of the killed server may still hold its shared memory for a moment.
          if (Date.now() > deadline) throw error;
        }
      }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A new folder that users other than root can read. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(testFolder(), `akin-tests-${process.pid}-`));
  await chmod(folder, 0o711);
  await mkdir(folder, { recursive: true });
  return folder;
}
