import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isRunning } from '@akin/runtime';

/** In the data folder: the URL of the akin that serves from it. */
export const SERVER_FILE = 'server.json';

/** An akin that serves from a data folder. */
export interface RunningServer {
  readonly pid: number;
  /** Its URL on this machine, without a slash at the end. */
  readonly url: string;
}

const ANSWER_MILLISECONDS = 10_000;

/**
 * Tells other commands of this user the URL of this process, until disposed of.
 * @param url as the gateway has it
 * @throws Error of the system if the file cannot be written
 */
export async function writeServerFile(dataFolder: string, url: string): Promise<AsyncDisposable> {
  const file = path.join(dataFolder, SERVER_FILE);
  const content = JSON.stringify({ pid: process.pid, url: reachable(url) } satisfies RunningServer);
  // Atomic: no reader sees half of it.
  await writeFile(`${file}.partial`, content, { mode: 0o600 });
  await rename(`${file}.partial`, file);
  return {
    async [Symbol.asyncDispose]() {
      // On PostgreSQL another akin may have used this folder in the meantime.
      if ((await readFile(file, 'utf8').catch(() => '')) === content) await rm(file, { force: true });
    },
  };
}

/** The akin that serves from a data folder. Undefined if none does, for example after a kill. */
export async function runningServer(dataFolder: string): Promise<RunningServer | undefined> {
  const server = await readServerFile(path.join(dataFolder, SERVER_FILE));
  if (server === undefined || !isRunning(server.pid)) return undefined;
  return (await answers(server.url)) ? server : undefined;
}

async function readServerFile(file: string): Promise<RunningServer | undefined> {
  try {
    const { pid, url } = JSON.parse(await readFile(file, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 && URL.canParse(url) ? { pid, url } : undefined;
  } catch {
    return undefined;
  }
}

/** The number and the port of a killed process may now belong to another one. */
async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
    return answer.ok && ((await answer.json()) as { status?: unknown }).status === 'OK';
  } catch {
    return false;
  }
}

/** A server that listens on all addresses is reached on loopback. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
