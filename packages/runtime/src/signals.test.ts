import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';

describe('waiting for a signal', () => {
  const PROGRAM = `
    import { waitForSignal } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
    const signal = waitForSignal();
    setInterval(() => {}, 1000);
    console.log('ready');
    console.log(await signal);
  `;

  async function start(): Promise<ChildProcessByStdio<null, Readable, null>> {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const failure = once(child, 'exit').then(([code]) => {
      throw new Error(`The program ended with ${code} before it was ready.`);
    });
    await Promise.race([once(child.stdout, 'data'), failure]);
    return child;
  }

  it('takes two signals of one moment for one, and ends the process at a later one', async () => {
    const child = await start();
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    expect(String(await once(child.stdout, 'data'))).toBe('SIGTERM\n');
    // The one wait that the rule itself is about.
    await delay(600);
    expect(child.exitCode).toBeNull();
    child.kill('SIGINT');
    expect(await exit).toEqual([130, null]);
  });
});
