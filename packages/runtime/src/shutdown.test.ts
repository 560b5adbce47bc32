import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.ts';
import { shutDown } from './shutdown.ts';

const silent = createLogger({ name: 'test', level: 'silent' });

describe('a shutdown', () => {
  it('runs its phases in order', async () => {
    const done: string[] = [];
    const phase = (name: string) => ({ name, milliseconds: 1000, work: async () => done.push(name) });
    expect(await shutDown(silent, [phase('stop'), phase('drain'), phase('close')], 60_000)).toBe(true);
    expect(done).toEqual(['stop', 'drain', 'close']);
  });

  it('goes on after a phase that fails and one that never ends, and says which', async () => {
    const lines: string[] = [];
    const log = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
    const done: string[] = [];
    const phases = [
      { name: 'stop', milliseconds: 10, work: () => Promise.reject(new Error('no')) },
      { name: 'drain', milliseconds: 10, work: () => new Promise(() => {}) },
      { name: 'close', milliseconds: 60_000, work: async () => done.push('close') },
    ];
    const clean = await shutDown(log, phases, 60_100);
    expect([clean, done]).toEqual([false, ['close']]);
    expect(lines.map((line) => JSON.parse(line)).map(({ phase, err }) => [phase, err?.message])).toEqual([
      ['stop', 'no'],
      // All that was left but for the last one.
      ['drain', expect.stringMatching(/^not done within \d+ ms$/)],
      ['close', undefined],
    ]);
  });
});

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
