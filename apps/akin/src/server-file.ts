import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname as systemName } from 'node:os';
import path from 'node:path';
import { parseUrl } from '@akin/domain';
import { isRunning, sleep } from '@akin/runtime';
import { urlOnThisMachine } from './http-address.ts';

/** In the data folder: the URL of the akin that serves from it. */
export const SERVER_FILE = 'server.json';

/**
 * In a folder of this user alone: the data folder of the akin at each port of this machine. Commands that know only the
 * port find it there. Another user cannot write there, and so cannot name a data folder. It is not among the temporary
 * files: their folder is another one in other sessions and services, and is cleaned while akin serves.
 *
 * @throws Error of the system for a user without a home
 */
function portsFolder(): string {
  return path.join(homedir(), '.akin', 'ports');
}

export interface RunningServer {
  readonly pid: number;
  /** Its URL on this machine, without a slash at the end. */
  readonly url: string;
  readonly stopping?: boolean;
}

const LIVENESS_TIMEOUT_MILLISECONDS = 10_000;
/** A process ends within five seconds, later on a busy machine, or if it first serves until load balancers know. */
const STOPPING_MILLISECONDS = 30_000;
const POLL_MILLISECONDS = 50;

/** Tells other commands of this user about this process, until disposed of. */
export class ServerFile implements AsyncDisposable {
  readonly #file: string;
  readonly #folder: string;
  #server: RunningServer | undefined;

  constructor(dataFolder: string) {
    this.#file = path.join(dataFolder, SERVER_FILE);
    this.#folder = path.resolve(dataFolder);
  }

  /** @param url as the gateway has it. @throws Error of the system if the file cannot be written */
  markServing(url: string): void {
    const server = { pid: process.pid, url: urlOnThisMachine(url) };
    this.#write(server);
    try {
      mkdirSync(portsFolder(), { recursive: true, mode: 0o700 });
      if (isOfThisUserAlone(portsFolder())) writeFileSync(portFile(server.url), this.#folder, { mode: 0o600 });
    } catch {
      // Such commands work anyway, but originals of their pictures are not shown.
    }
  }

  /** The next akin waits for the end of this one, see {@link waitUntilStopped}. */
  markStopping(): void {
    try {
      if (this.#server !== undefined && this.#isOwn()) this.#write({ ...this.#server, stopping: true });
    } catch {
      // It stops on a full disk too. The next one then finds the port or the database in use.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOwn()) return;
    rmSync(this.#file, { force: true });
    try {
      if (this.#server !== undefined) rmSync(portFile(this.#server.url), { force: true });
    } catch {
      // As in markServing: there is none.
    }
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

export async function runningServer(dataFolder: string): Promise<RunningServer | undefined> {
  const server = readServerFile(path.join(dataFolder, SERVER_FILE));
  if (server === undefined || server.stopping || !isRunning(server.pid)) return undefined;
  return (await isUp(server.url)) ? server : undefined;
}

/** The data folder of the akin at a URL, if that is on this machine and of this user. */
export async function dataFolderAt(url: string): Promise<string | undefined> {
  const { hostname } = new URL(url);
  if (!['127.0.0.1', '[::1]', 'localhost', systemName().toLowerCase()].includes(hostname.toLowerCase()))
    return undefined;
  try {
    if (!isOfThisUserAlone(portsFolder())) return undefined;
    const folder = readFileSync(portFile(url), 'utf8');
    const server = await runningServer(folder);
    return server !== undefined && portFile(server.url) === portFile(url) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function portFile(url: string): string {
  const { port, protocol } = new URL(url);
  return path.join(portsFolder(), port || (protocol === 'https:' ? '443' : '80'));
}

function isOfThisUserAlone(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return false;
  return process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
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
