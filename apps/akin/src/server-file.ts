import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseUrl } from '@akin/domain';
import { isRunning, sleep } from '@akin/runtime';

/** In the data folder: the URL of the akin that serves from it. */
export const SERVER_FILE = 'server.json';

/** An akin that serves from a data folder. */
export interface RunningServer {
  readonly pid: number;
  /** Its URL on this machine, without a slash at the end. */
  readonly url: string;
  /** It is about to end. */
  readonly stopping?: boolean;
}

const LIVENESS_TIMEOUT_MILLISECONDS = 10_000;
/** A process ends within five seconds, later on a busy machine, or if it first serves until load balancers know. */
const STOPPING_MILLISECONDS = 30_000;
const POLL_MILLISECONDS = 50;

/** Tells other commands of this user about this process, until disposed of. */
export class ServerFile implements AsyncDisposable {
  readonly #file: string;
  #server: RunningServer | undefined;

  constructor(dataFolder: string) {
    this.#file = path.join(dataFolder, SERVER_FILE);
  }

  /** @param url as the gateway has it. @throws Error of the system if the file cannot be written */
  markServing(url: string): void {
    this.#write({ pid: process.pid, url: reachableUrl(url) });
  }

  /** Marks this akin as stopping: the next one waits for its end, see {@link waitUntilStopped}. */
  markStopping(): void {
    try {
      if (this.#server !== undefined && this.#isOwn()) this.#write({ ...this.#server, stopping: true });
    } catch {
      // It stops on a full disk too. The next one then finds the port or the database in use.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isOwn()) rmSync(this.#file, { force: true });
  }

  /** On PostgreSQL another akin may have used this folder in the meantime. */
  #isOwn(): boolean {
    return readServerFile(this.#file)?.pid === process.pid;
  }

  /** Synchronous: other processes see the new state before this one does anything else. */
  #write(server: RunningServer): void {
    // Atomic: no reader sees half of it.
    writeFileSync(`${this.#file}.partial`, JSON.stringify(server), { mode: 0o600 });
    renameSync(`${this.#file}.partial`, this.#file);
    this.#server = server;
  }
}

/**
 * Waits while the akin of a data folder is stopping, because it still has the port and the database. Gives up after
 * half a minute: the caller then fails with the error of the port or the database.
 *
 * @throws the reason of the signal
 */
export async function waitUntilStopped(
  dataFolder: string,
  warn: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const stopping = () => {
    const server = readServerFile(path.join(dataFolder, SERVER_FILE));
    // In a container the next process often has the number of the killed one.
    return server?.stopping && server.pid !== process.pid && isRunning(server.pid) ? server : undefined;
  };
  const first = stopping();
  if (first === undefined) return;
  warn(`Another akin (pid ${first.pid}) is stopping: waiting for its end.`);
  const deadline = performance.now() + STOPPING_MILLISECONDS;
  while (stopping() && performance.now() < deadline) await sleep(POLL_MILLISECONDS, signal);
}

/** The akin that serves from a data folder. Undefined if none does, for example after a kill. */
export async function runningServer(dataFolder: string): Promise<RunningServer | undefined> {
  const server = readServerFile(path.join(dataFolder, SERVER_FILE));
  if (server === undefined || server.stopping || !isRunning(server.pid)) return undefined;
  return (await isUp(server.url)) ? server : undefined;
}

function readServerFile(file: string): RunningServer | undefined {
  try {
    const { pid, url, stopping } = JSON.parse(readFileSync(file, 'utf8'));
    if (!Number.isSafeInteger(pid) || pid <= 0 || parseUrl(url) === undefined) return undefined;
    return { pid, url, stopping: stopping === true };
  } catch {
    return undefined;
  }
}

/** The number and the port of a killed process may now belong to another one. */
async function isUp(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(LIVENESS_TIMEOUT_MILLISECONDS) });
    return response.ok && ((await response.json()) as { status?: unknown }).status === 'OK';
  } catch {
    return false;
  }
}

/** A server that listens on all addresses is reached on loopback. */
function reachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}
