import { spawn } from 'node:child_process';
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
 * @throws Error with what the program printed when it ends before it answers, or does not within two minutes.
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
  const deadline = Date.now() + 120_000;
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

/** A port of 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
