import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder, debianPrograms, hasDebianPrograms } from './debian.ts';
import { dockerIsUp, pullImages, removeOrphanedContainers, startContainer } from './docker.ts';
import { testFolder } from './files-folder.ts';
import { postgresIsUp, redisIsUp } from './is-up.ts';
import { startLocalPostgres, startLocalRedis } from './local.ts';
import type { Server } from './server.ts';

/** The real services of a test run; each starts at the first request for it. */
export interface Services extends AsyncDisposable {
  /** The URL of a PostgreSQL 17 with pgvector, for a user who may create databases and extensions. */
  postgres(): Promise<string>;
  /** The URL of a Redis. */
  redis(): Promise<string>;
  /** A temporary folder of the run, deleted at its end. */
  folder(): Promise<string>;
  /** Downloads what is needed to start the services and is missing on this machine; can take minutes, once. */
  fetch(): Promise<void>;
}

type Route = 'docker' | 'debian';

const POSTGRES_IMAGE = 'pgvector/pgvector:pg17';
const REDIS_IMAGE = 'redis:7';

/**
 * Services of this process, on free ports, with data in a temporary folder. They end when disposed or when the process
 * ends or is killed. `TEST_DATABASE_URL` and `TEST_REDIS_URL` replace them if set.
 */
export function createServices(env: NodeJS.ProcessEnv = process.env): Services {
  const started: Promise<Server>[] = [];
  const folder = once(temporaryFolder);
  const route = once(chooseRoute);
  const start = (given: string | undefined, starts: Record<Route, () => Promise<Server>>) =>
    once(async () => {
      if (given !== undefined) return given;
      const server = starts[await route()]();
      started.push(server);
      return (await server).url;
    });
  return {
    postgres: start(env.TEST_DATABASE_URL, {
      docker: () =>
        startContainer(
          ['-e', 'POSTGRES_HOST_AUTH_METHOD=trust', POSTGRES_IMAGE, '-c', 'fsync=off'],
          5432,
          (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
          postgresIsUp,
        ),
      debian: async () => startLocalPostgres(await folder()),
    }),
    redis: start(env.TEST_REDIS_URL, {
      docker: () => startContainer([REDIS_IMAGE], 6379, (port) => `redis://127.0.0.1:${port}`, redisIsUp),
      debian: async () => startLocalRedis(await folder()),
    }),
    folder,
    async fetch() {
      if (env.TEST_DATABASE_URL !== undefined && env.TEST_REDIS_URL !== undefined) return;
      if (await hasDebianPrograms()) return;
      console.log(`Fetching PostgreSQL 17 and Redis for the tests (once)`);
      if ((await route()) === 'docker') await pullImages([POSTGRES_IMAGE, REDIS_IMAGE]);
    },
    async [Symbol.asyncDispose]() {
      for (const server of await Promise.allSettled(started)) {
        if (server.status === 'fulfilled') await server.value[Symbol.asyncDispose]();
      }
      if (folder.called()) await rm(await folder(), { recursive: true, force: true });
    },
  };
}

/** Uses Docker if a daemon is running, otherwise Debian packages; if neither works, the error says what to do. */
async function chooseRoute(): Promise<Route> {
  if (await dockerIsUp()) {
    await removeOrphanedContainers(isRunning);
    return 'docker';
  }
  try {
    await debianPrograms();
    return 'debian';
  } catch (error) {
    throw new Error(
      `These tests need PostgreSQL 17 with pgvector, and Redis. One of these gives them:
  - on Debian or Ubuntu: apt-get install apt dpkg debian-archive-keyring, with http://deb.debian.org in reach
    (the packages are unpacked into ${cacheFolder()}, nothing is installed)
  - a running Docker: systemctl start docker
  - servers of your own:
      export TEST_DATABASE_URL=postgres://user:password@host:5432/postgres TEST_REDIS_URL=redis://host:6379
No Docker daemon answers, and the Debian packages could not be had:
  ${error instanceof Error ? error.message.replaceAll('\n', '\n  ') : error}`,
      { cause: error },
    );
  }
}

const FOLDER_PREFIX = 'akin-tests-';

/** Creates a folder named after this process; also removes the folders of killed runs. */
async function temporaryFolder(): Promise<string> {
  const parent = testFolder();
  for (const name of await readdir(parent)) {
    const pid = Number(new RegExp(`^${FOLDER_PREFIX}(\\d+)-`).exec(name)?.[1] ?? process.pid);
    if (isRunning(pid)) continue;
    // One with a disk that is still mounted, or of another user, stays.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
  const folder = await mkdtemp(join(parent, `${FOLDER_PREFIX}${process.pid}-`));
  await chmod(folder, 0o711);
  return folder;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Wraps a function so that it runs only at the first call; every call returns that promise. */
function once<Value>(work: () => Promise<Value>): { (): Promise<Value>; called(): boolean } {
  let result: Promise<Value> | undefined;
  const call = () => {
    result ??= work();
    return result;
  };
  return Object.assign(call, { called: () => result !== undefined });
}
