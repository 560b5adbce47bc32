import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A server process of a test run. */
export interface Server extends AsyncDisposable {
  readonly url: string;
}

/**
 * Kills the server when file descriptor 3, a pipe from this process, is closed. The system closes the pipe even if the
 * test run is killed, so no server is left behind.
 */
const GUARD = `
trap '' INT
stop=$1; shift
"$@" 3<&- & server=$!
(read -r _ <&3; kill -s "$stop" "$server" 2>/dev/null) & reader=$!
wait "$server"; status=$?
kill "$reader" 2>/dev/null
exit "$status"
`;

/**
 * Starts a program and waits until `isUp` returns true.
 *
 * @param command program and arguments
 * @param stop the signal that ends it
 * @throws Error with the program's output if it ends before it answers, or does not answer within five minutes.
 */
export async function startServer(
  command: readonly string[],
  stop: 'QUIT' | 'TERM',
  url: string,
  isUp: () => Promise<boolean>,
): Promise<Server> {
  const child = spawn('/bin/sh', ['-c', GUARD, 'guard', stop, ...command], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000);
    });
  }
  const ended = once(child, 'exit');
  // The server must not keep a finished test run alive.
  child.unref();
  for (const stream of child.stdio) (stream as unknown as { unref?: () => void } | null)?.unref?.();
  const deadline = Date.now() + 300_000;
  while (!(await isUp())) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.stdio[3]?.destroy();
      throw new Error(`${command[0]} did not start:\n${said}`);
    }
    await delay(20);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.ref();
      child.stdio[3]?.destroy();
      if (child.exitCode === null) await ended;
    },
  };
}

/** Operating systems assign no dynamic port below this one (IANA: from 49152, Linux: from 32768). */
const MIN_GIVEN_PORT = 32_768;
const MIN_PORT = 20_000;
/** Each process of jest has its own ports, so that two never find the same one. */
const RANGES = 16;
const RANGE = Math.floor((MIN_GIVEN_PORT - MIN_PORT) / RANGES);
const FIRST_PORT = MIN_PORT + (Number(process.env.JEST_WORKER_ID ?? 0) % RANGES) * RANGE;

/** Programs of this test file may start on them later, or again. */
const found = new Set<number>();

/**
 * Finds a free port of 127.0.0.1 that the system assigns to no other program. So it stays free until a program has
 * started on it, and while that program is killed and restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(RANGE);
    if (found.has(port)) continue;
    found.add(port);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
