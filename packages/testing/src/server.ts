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
 * Keeps a server only as long as file 3, a pipe from this process, is open: so that a run which is killed leaves none
 * behind. The system closes the pipe whatever happened to the run.
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
 * Starts a program and waits until `answers` does.
 *
 * @param command program and arguments
 * @param stop the signal that ends it
 * @throws Error with what the program printed when it ends before it answers, or does not within five minutes.
 */
export async function startServer(
  command: readonly string[],
  stop: 'QUIT' | 'TERM',
  url: string,
  answers: () => Promise<boolean>,
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
  // A server never keeps a finished run alive.
  child.unref();
  for (const stream of child.stdio) (stream as unknown as { unref?: () => void } | null)?.unref?.();
  const deadline = Date.now() + 300_000;
  while (!(await answers())) {
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

/** Systems give no port below this one to who asks for any (IANA has dynamic ports from 49152, Linux from 32768 on). */
const LEAST_GIVEN_PORT = 32_768;
const LEAST_PORT = 20_000;

/**
 * A port of 127.0.0.1 that nobody listens on now, and that the system gives to nobody: it is still free when a program
 * has started that is told to listen there, or was killed and starts again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LEAST_PORT, LEAST_GIVEN_PORT);
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
