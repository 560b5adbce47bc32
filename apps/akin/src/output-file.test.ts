import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mayReplace } from './output-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-output-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

it('allows to replace or create a file, but no pipe, device or folder', async () => {
  const file = path.join(folder, 'file');
  const pipe = path.join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  expect(await mayReplace(file)).toBe(true);
  await writeFile(file, '');
  expect(await mayReplace(file)).toBe(true);
  expect(await mayReplace(pipe)).toBe(false);
  expect(await mayReplace('/dev/null')).toBe(false);
  await expect(mayReplace(folder)).rejects.toThrow('is a folder');
  await expect(mayReplace(path.join(folder, 'no', 'file'))).rejects.toThrow(`no folder ${path.join(folder, 'no')}`);
});
