import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin } from '../../test/run-akin.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-analyze-'));
  await writeFile(path.join(folder, '1.jpg'), await drawImage({ width: 90, height: 60, seed: 1 }));
  await writeFile(path.join(folder, 'text.jpg'), 'no picture');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('akin analyze', () => {
  it('takes hundreds of files, and leaves nothing in the home directory, on ONNX Runtime', async () => {
    const home = await mkdtemp(path.join(tmpdir(), 'akin-home-'));
    const many = ['1.jpg', ...Array.from({ length: 500 }, () => `${'./'.repeat(20)}text.jpg`)];
    const { code, out, err } = await runAkin(['analyze', '--backend', 'onnx', ...many], {
      cwd: folder,
      env: { HOME: home, XDG_CACHE_HOME: undefined, ORT_DISABLE_TELEMETRY: undefined },
    });
    const lines = out.trim().split('\n');
    expect([code, err, lines.length]).toEqual([2, '', 501]);
    expect(await readdir(home)).toEqual([]);
    await rm(home, { recursive: true });
  });

  it('runs only the named modules, and ends silently when the reader of its lines has gone', () => {
    const program = path.resolve(import.meta.dirname, '../../bin/akin.mjs');
    const shell = `yes 1.jpg | "${process.execPath}" "${program}" analyze --modules color - | head -n 2`;
    const { stdout, stderr } = spawnSync('sh', ['-c', shell], { cwd: folder, encoding: 'utf8' });
    const lines = stdout.trim().split('\n');
    expect([lines.length, stderr]).toEqual([2, '']);
    const keys = Object.keys(JSON.parse(JSON.parse(lines[0] as string).outputs));
    expect(keys.every((key) => key.startsWith('color_'))).toBe(true);
  });
});
