import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Server } from './server.ts';

const run = promisify(execFile);
const LABEL = 'akin-tests';

/** Whether a Docker daemon is running on this machine. */
export async function dockerIsUp(): Promise<boolean> {
  return run('docker', ['info'], { timeout: 10_000 }).then(
    () => true,
    () => false,
  );
}

/** Downloads the images, so that containers start within about a second. */
export async function pullImages(images: readonly string[]): Promise<void> {
  for (const image of images) await run('docker', ['pull', '--quiet', image]);
}

/**
 * Starts a container that is removed when it stops. Its label contains this process id: if this process is killed,
 * {@link removeOrphanedContainers} finds the container.
 *
 * @param urlOf builds its URL from the port on 127.0.0.1 that it got
 */
export async function startContainer(
  options: readonly string[],
  port: number,
  urlOf: (port: string) => string,
  isUp: (url: string) => Promise<boolean>,
): Promise<Server> {
  const label = `${LABEL}=${process.pid}`;
  const { stdout } = await run('docker', [
    'run',
    '-d',
    '--rm',
    '--label',
    label,
    '-p',
    `127.0.0.1::${port}`,
    ...options,
  ]);
  const id = stdout.trim();
  const published = (await run('docker', ['port', id, `${port}`])).stdout.trim();
  const url = urlOf(published.slice(published.lastIndexOf(':') + 1));
  const deadline = Date.now() + 300_000;
  while (!(await isUp(url))) {
    if (Date.now() > deadline) throw new Error(`the container of ${options.join(' ')} does not answer`);
    await delay(50);
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      await run('docker', ['rm', '-f', id]);
    },
  };
}

/** Removes the containers of killed test runs. */
export async function removeOrphanedContainers(isRunning: (pid: number) => boolean): Promise<void> {
  const format = `{{.ID}} {{.Label "${LABEL}"}}`;
  const { stdout } = await run('docker', ['ps', '--filter', `label=${LABEL}`, '--format', format]);
  for (const line of stdout.trim().split('\n').filter(Boolean)) {
    const [id = '', pid] = line.split(' ');
    if (!isRunning(Number(pid))) await run('docker', ['rm', '-f', id]);
  }
}
