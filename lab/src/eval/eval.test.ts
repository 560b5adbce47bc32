import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampleFolder } from '../learn/picture-files.ts';
import { readEvalOptions } from './options.ts';
import type { Report } from './report.ts';

const [MAIN, PARTS] = ['main.js', 'parts.js'].map((file) =>
  fileURLToPath(new URL(`../../dist/eval/${file}`, import.meta.url)),
) as [string, string];

let root: string;
let out: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'akin-eval-'));
  out = join(root, 'results');
  for (const [seed, place] of ['ünï/1', 'ünï/2', 'a b/1', 'a b/2', 'lone/1', 'same/ünï/1', 'same/ünï/2'].entries()) {
    await mkdir(join(root, 'pictures', place, '..'), { recursive: true });
    await writeFile(join(root, 'pictures', `${place}.png`), await drawImage({ width: 300, height: 260, seed }));
  }
  await writeFile(join(root, 'pictures/a b/broken.jpg'), 'no picture');
  await mkdir(join(root, 'empty'));
  await mkdir(join(root, 'broken'));
  for (const name of ['1.jpg', '2.jpg']) await writeFile(join(root, 'broken', name), 'no picture');
  await symlink('pictures', join(root, 'again'));
});
afterAll(() => rm(root, { recursive: true }));

const run = (...args: string[]) => runProgram(MAIN, ...args);

function runProgram(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

describe('npm run eval', () => {
  it('measures a folder of few pictures, reports unreadable files, and shows the pictures in the report', async () => {
    const { code, stdout, stderr } = await run('pictures', 'again', '--edited', '1', '--out', out, '--backend', 'onnx');
    expect([code, stderr]).toEqual([0, expect.stringContaining('pictures/a b/broken.jpg: This is not an image')]);
    expect(stderr).toContain('pictures: 8 of 8 files');
    for (const part of [
      '## Content: 6 pictures of 3 classes',
      '## Copies: 27 edits of 1 picture',
      '1 file could not be read',
    ]) {
      expect(stdout).toContain(part);
    }
    expect(stdout).not.toMatch(/NaN|undefined|Infinity/);
    // The folder was given twice, once as a symbolic link.
    expect(await readdir(out)).toEqual(['pictures']);
    const report: Report = JSON.parse(await readFile(join(out, 'pictures/figures.json'), 'utf8'));
    expect(report.files[0]).toEqual({ file: 'a b/1.png', label: 'a b' });
    expect(report.skipped).toEqual([{ file: 'a b/broken.jpg', why: expect.any(String) }]);
    expect(Object.keys(report.edited[0]?.scores ?? {})).toHaveLength(27);
    expect(report.color.byHex).toHaveLength(16);
    const shown = await readFile(join(out, 'pictures/pictures.md'), 'utf8');
    expect(shown).not.toMatch(/NaN|undefined/);
    const sheets = (await readdir(join(out, 'pictures'))).filter((name) => name.endsWith('.png'));
    expect(sheets).toEqual(
      expect.arrayContaining([
        'colors.png',
        'content-best.png',
        'content-worst.png',
        'copies-missed.png',
        'copyspace.png',
        'nearest-non-matching.png',
        'palettes.png',
      ]),
    );
    for (const sheet of sheets) expect(shown).toContain(`](${sheet})`);
  });

  it.each([
    [['missing'], 'There is no folder missing.'],
    [['pictures', 'empty'], 'empty contains no picture'],
    [['pictures/lone'], 'contains one picture'],
    [['pictures/lone/1.png'], 'is not a folder'],
    [['broken'], 'Of the 2 files of broken 0 can be read'],
    [[], 'Name a folder of pictures.'],
    [['pictures', '--sample', 'many'], '--sample is a whole number from 2 on, not many.'],
    [['pictures', '--backend', 'cuda'], '--backend is one of wasm, onnx, not cuda.'],
    [['pictures', '--bogus'], "Unknown option '--bogus'"],
    [['broken', '--out', 'broken/1.jpg'], 'The folder broken/1.jpg/broken cannot be made (ENOTDIR)'],
    [['pictures', '--content-model', 'empty'], 'config.json cannot be read'],
  ])('refuses %j in a sentence', async (args, why) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(why);
    expect(stderr).not.toContain('    at ');
  });

  it('prints its usage', async () => {
    expect(await run('--help')).toEqual({ code: 0, stderr: '', stdout: expect.stringContaining('--content-model') });
  });
});

it('measures how well parts of pictures are found, and reports unreadable files', async () => {
  const { code, stdout, stderr } = await runProgram(PARTS, 'pictures/a b', '--among', 'pictures/ünï', '--edited', '2');
  expect([code, stderr]).toEqual([0, expect.stringContaining('pictures/a b/broken.jpg: This is not an image')]);
  expect(stdout).toContain('26 searches among 4 pictures');
  expect(stdout).toMatch(/\| mirrored \| 1\.00 \| (0\.50|1\.00) \| 1\.00 \| 1\.00 \|/);
  expect(stdout).not.toMatch(/NaN|undefined/);
  expect(await runProgram(PARTS)).toMatchObject({ code: 1, stderr: expect.stringContaining('Usage') });
});

describe('the measurements', () => {
  it('writes separate results for folders with the same name', async () => {
    const options = await readEvalOptions([join(root, 'pictures/ünï'), join(root, 'pictures/same/ünï'), '--out', 'r']);
    expect(options?.folders.map(({ results }) => results)).toEqual([join('r', 'ünï'), join('r', 'ünï-2')]);
  });

  it('has the path below the folder for a class', async () => {
    const files = await sampleFolder(join(root, 'pictures'), 100);
    expect(new Set(files.map(({ label }) => label))).toEqual(new Set(['a b', 'lone', 'same/ünï', 'ünï']));
    expect(await sampleFolder(join(root, 'pictures'), 3)).toHaveLength(3);
  });
});
