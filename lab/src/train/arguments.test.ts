import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MODEL_FOLDER } from '@akin/modules/internal/network/model';
import { MODULES } from '@akin/modules/manifests';
import { drawImage } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const WITH_DESCRIPTOR = MODULES.filter(({ descriptor }) => descriptor !== undefined).map(({ name }) => name);

describe('training scripts', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-arguments-'));
    await writeFile(join(folder, 'notes.txt'), 'no picture');
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Runs a script; `FOLDER` in the arguments is replaced by the folder. */
  const run = (script: string, args: readonly string[]) => {
    const file = fileURLToPath(new URL(`../../dist/train/${script}.js`, import.meta.url));
    const places = args.map((arg) => arg.replace('FOLDER', folder));
    const { status, stderr } = spawnSync(process.execPath, [file, ...places], { encoding: 'utf8' });
    return [status, stderr];
  };

  it.each<[script: string, args: string[], why: string]>([
    ['main', [], 'Name a folder.'],
    ['main', ['FOLDER', 'content', '--backend', 'bogus'], '--backend is one of wasm, onnx, not bogus.'],
    ['main', ['FOLDER', 'content', 'copyspace'], `copyspace is not one of the modules ${WITH_DESCRIPTOR.join(', ')}.`],
    ['main', ['FOLDER', '--sample', '3'], "Unknown option '--sample'"],
    ['axes', ['FOLDER', 'content'], 'content is one too many.'],
    ['axes', ['FOLDER', '--backend', 'bogus'], '--backend is one of wasm, onnx, not bogus.'],
    ['copies-pictures', ['FOLDER'], 'Name 2 folders.'],
    ['all', ['FOLDER', '--backend', 'bogus'], '--backend is one of wasm, onnx, not bogus.'],
  ])('tell how they are used: %s.js %j', (script, args, why) => {
    const usage = expect.stringMatching(/\nUsage: npm run .* -- <folder of pictures>.* \[--backend wasm\|onnx\]\n$/s);
    const [status, output] = run(script, args);
    expect([status, output, output]).toEqual([1, usage, expect.stringContaining(why)]);
  });

  it.each([
    ['main', ['FOLDER/nowhere'], 'There is no folder FOLDER/nowhere.\n'],
    ['main', ['FOLDER/notes.txt'], 'FOLDER/notes.txt is not a folder.\n'],
    ['axes', ['FOLDER/nowhere'], 'There is no folder FOLDER/nowhere.\n'],
    ['axes', ['FOLDER', '--classes', 'FOLDER/nowhere'], 'There is no folder FOLDER/nowhere.\n'],
    ['copies-pictures', ['FOLDER/nowhere', 'FOLDER'], 'There is no folder FOLDER/nowhere.\n'],
    ['all', ['FOLDER/nowhere'], 'There is no folder FOLDER/nowhere.\n'],
  ])('tell in a line that there is no folder: %s.js %j', (script, args, why) => {
    expect(run(script, args)).toEqual([1, why.replace('FOLDER', folder)]);
  });

  it('end with an error if no picture can be described: main.js', () => {
    expect(run('main', ['FOLDER'])).toEqual([1, expect.stringMatching(/contains no readable picture\.\n$/)]);
  });

  it('take no network when there are too few pictures, however many other files: all.js', async () => {
    const texts = join(folder, 'texts');
    await mkdir(texts);
    for (let i = 0; i < 500; i++) await writeFile(join(texts, `${i}.txt`), 'no picture');
    expect(run('all', [texts, '--model', fileURLToPath(MODEL_FOLDER)])).toEqual([
      1,
      `${texts} contains 0 files named as pictures. Training needs at least 500, better some thousands.\n`,
    ]);
  });

  it('find no axes when few pictures can be read: axes.js', async () => {
    const few = join(folder, 'few');
    await mkdir(few);
    await writeFile(join(few, '1.png'), await drawImage({ width: 60, height: 40 }));
    expect(run('axes', [few])).toEqual([
      1,
      `${few} contains 1 readable pictures. Training needs at least 500, better some thousands.\n`,
    ]);
  });
});
