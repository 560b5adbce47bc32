import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runningServer, SERVER_FILE, ServerFile, waitUntilStopped } from './server-file.ts';

describe('the next start of an akin that is stopping', () => {
  let folder: string;
  let other: ChildProcess;
  let said: string[];
  const wait = (signal = new AbortController().signal) => waitUntilStopped(folder, (text) => said.push(text), signal);
  const write = (content: object) => writeFileSync(path.join(folder, SERVER_FILE), JSON.stringify(content));
  const url = 'http://127.0.0.1:1';

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'akin-server-file-'));
    other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    said = [];
  });
  afterEach(async () => {
    other.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });

  it('waits until its process has ended, and says so', async () => {
    write({ pid: other.pid, url, stopping: true });
    const ended = once(other, 'exit').then(() => 'ended');
    const waited = wait();
    expect(said).toEqual([`Another akin (pid ${other.pid}) is stopping: waiting for its end.`]);
    expect(await runningServer(folder)).toBeUndefined();
    other.kill();
    await waited;
    expect(await ended).toBe('ended');
  });

  it('waits until it has closed everything', async () => {
    write({ pid: other.pid, url, stopping: true });
    const waited = wait();
    await rm(path.join(folder, SERVER_FILE));
    await waited;
    expect(said).toHaveLength(1);
  });

  it('stops waiting when it is stopped itself', async () => {
    write({ pid: other.pid, url, stopping: true });
    await expect(wait(AbortSignal.abort(new Error('Ctrl-C')))).rejects.toThrow('Ctrl-C');
  });

  it('waits for no akin that serves, was killed, or had the number of this process', async () => {
    write({ pid: other.pid, url });
    await wait();
    write({ pid: process.pid, url, stopping: true });
    await wait();
    other.kill('SIGKILL');
    await once(other, 'exit');
    write({ pid: other.pid, url, stopping: true });
    await wait();
    expect(said).toEqual([]);
  });

  it('is told by a file, which is removed at the end, unless another akin has written its own', async () => {
    const file = path.join(folder, SERVER_FILE);
    const own = new ServerFile(folder);
    own.markStopping();
    expect(existsSync(file)).toBe(false);
    own.markServing(url);
    // The file cannot be written, as on a full disk.
    mkdirSync(`${file}.partial`);
    own.markStopping();
    rmdirSync(`${file}.partial`);
    own.markStopping();
    await own[Symbol.asyncDispose]();
    expect(existsSync(file)).toBe(false);
    own.markServing(url);
    write({ pid: other.pid, url });
    own.markStopping();
    await own[Symbol.asyncDispose]();
    await wait();
    expect([existsSync(file), said]).toEqual([true, []]);
  });
});
