import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { candidatesOf } from './candidates.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'akin-candidates-'));
  for (const name of ['a/1.jpg', 'a/2.png', 'a/deep/3.jpg', 'b [x]/4.jpg', '5.jpg']) {
    await mkdir(path.join(folder, path.dirname(name)), { recursive: true });
    await writeFile(path.join(folder, name), 'x');
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function found(words: string[], input = '') {
  const problems: string[] = [];
  const absent: string[] = [];
  const sources = new Set<string>();
  const files: string[] = [];
  const stop = new AbortController();
  const listener = {
    onSource: (source: string) => sources.add(path.relative(folder, source)),
    onProblem: (file: string, reason: string) => problems.push(`${path.relative(folder, file)}: ${reason}`),
    onAbsent: (file: string) => absent.push(path.relative(folder, file)),
  };
  for await (const { path: id, source, file } of candidatesOf(words, listener, stop.signal, {
    input: Readable.from([input]),
  })) {
    expect(path.isAbsolute(file)).toBe(true);
    files.push(`${path.relative(folder, source)} > ${id}`);
  }
  return { files, problems, sources: [...sources], absent };
}
const at = (name: string) => path.join(folder, name);

describe('the files that a command line names', () => {
  it('are those of folders, with ids below each', async () => {
    expect(await found([at('a'), at('b [x]')])).toEqual({
      files: ['a > 1.jpg', 'a > 2.png', 'a > deep/3.jpg', 'b [x] > 4.jpg'],
      problems: [],
      sources: ['a', 'b [x]'],
      absent: [],
    });
  });

  it('are those that match a glob, with ids below the folder before the first wildcard', async () => {
    expect(await found([at('a/**/*.jpg')])).toEqual({
      files: ['a > 1.jpg', 'a > deep/3.jpg'],
      problems: [],
      sources: ['a'],
      absent: [],
    });
    expect((await found([at('{a,b*}/?.jpg')])).files).toEqual([' > a/1.jpg', ' > b [x]/4.jpg']);
    expect((await found([at('b \\[x\\]/*.jpg')])).files).toEqual([' > b [x]/4.jpg']);
  });

  it('are those of a glob without what is excluded', async () => {
    const exclude = ['2.*'];
    await writeFile(at('a/deep/.akinignore'), '3.jpg');
    await writeFile(at('a/deep/6.jpg'), 'x');
    const files: string[] = [];
    const silent = { onSource: () => {}, onProblem: () => {}, onAbsent: () => {} };
    for await (const one of candidatesOf([at('a/**/*')], silent, new AbortController().signal, { exclude }))
      files.push(one.path);
    await rm(at('a/deep/.akinignore'));
    await rm(at('a/deep/6.jpg'));
    expect(files).toEqual(['1.jpg', 'deep/6.jpg']);
  });

  it('are single files, with ids relative to the working directory, or else only their names', async () => {
    expect((await found([at('a/1.jpg')])).files).toEqual(['a > 1.jpg']);
    const before = process.cwd();
    process.chdir(folder);
    try {
      expect((await found(['a/1.jpg', './5.jpg', at('b [x]/4.jpg')])).files).toEqual([
        ' > a/1.jpg',
        ' > 5.jpg',
        ' > b [x]/4.jpg',
      ]);
    } finally {
      process.chdir(before);
    }
  });

  it('come from standard input for -, one per line', async () => {
    const { files } = await found(['-'], `${at('a/1.jpg')}\n\n${at('b [x]')}\r\n${at('a/d*/*')}`);
    expect(files).toEqual(['a > 1.jpg', 'b [x] > 4.jpg', 'a > deep/3.jpg']);
  });

  it('are no devices or pipes, which may never end', async () => {
    const { files, problems } = await found(['/dev/zero', at('5.jpg')]);
    expect([files, problems]).toEqual([[' > 5.jpg'], [expect.stringContaining('zero: it is not a file')]]);
  });

  it('are reported if they do not exist, and the others are found', async () => {
    expect(await found([at('none'), at('5.jpg/none'), at('*.gif'), at('5.jpg')])).toEqual({
      files: [' > 5.jpg'],
      problems: [],
      absent: ['none', '5.jpg/none', '*.gif'],
      sources: [''],
    });
  });
});
