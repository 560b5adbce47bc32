import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

describe('training scripts', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-arguments-'));
    await writeFile(join(folder, 'notes.txt'), 'no picture');
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** `FOLDER` stands for the folder. */
  const run = (script: string, args: readonly string[]) => {
    const file = fileURLToPath(new URL(`../../dist/train/${script}.js`, import.meta.url));
    const places = args.map((arg) => arg.replace('FOLDER', folder));
    const { status, stderr } = spawnSync(process.execPath, [file, ...places], { encoding: 'utf8' });
    return [status, stderr];
  };

  it.each<[script: string, args: string[], why: string]>([
    ['main', [], 'Name a folder.'],
    ['main', ['FOLDER', 'content', '--backend', 'bogus'], '--backend is one of wasm, onnx, node, not bogus.'],
    ['main', ['FOLDER', 'content', 'copyspace'], 'copyspace is none of the modules color, content, duplicate.'],
    ['main', ['FOLDER', '--sample', '3'], "Unknown option '--sample'"],
    ['axes', ['FOLDER', 'content'], 'content is one too many.'],
    ['axes', ['FOLDER', '--backend', 'bogus'], '--backend is one of wasm, onnx, node, not bogus.'],
    ['copies-pictures', ['FOLDER'], 'Name 2 folders.'],
    ['all', ['FOLDER', '--backend', 'bogus'], '--backend is one of wasm, onnx, node, not bogus.'],
  ])('tell how they are used: %s.js %j', (script, args, why) => {
    const usage = expect.stringMatching(
      /\nUsage: npm run .* -- <folder of pictures>.* \[--backend wasm\|onnx\|node\]\n$/s,
    );
    const [status, told] = run(script, args);
    expect([status, told, told]).toEqual([1, usage, expect.stringContaining(why)]);
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

  it.each(['main', 'axes'])('end with an error when there is no picture: %s.js', (script) => {
    expect(run(script, ['FOLDER'])).toEqual([1, expect.stringMatching(/holds no picture that can be read\.\n$/)]);
  });
});
