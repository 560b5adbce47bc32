import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { analyzeClasses, classFolders } from './class-folders.ts';

describe('classFolders', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'classes-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function fill(name: string, files: readonly string[]): Promise<void> {
    await mkdir(join(folder, name), { recursive: true });
    for (const file of files) await writeFile(join(folder, name, file), '');
  }
  const jpegs = (count: number) => Array.from({ length: count }, (_, i) => `${100 + i}.jpg`);

  it('treats each folder with three pictures as a class, whatever other files it contains', async () => {
    await fill('.', jpegs(5));
    await fill('apples', ['a.caption', 'a.jpg', 'b.caption', 'b.PNG', 'c.caption', 'c.webp']);
    await fill('pears', jpegs(2));
    await fill('fruit/plums', jpegs(3));
    const found = (await classFolders(folder)).map((files) => files.map((file) => relative(folder, file)));
    expect(found).toEqual([
      ['apples/a.jpg', 'apples/b.PNG', 'apples/c.webp'],
      ['fruit/plums/100.jpg', 'fruit/plums/101.jpg', 'fruit/plums/102.jpg'],
    ]);
  });

  it('takes 30 pictures of a large class, from all of it', async () => {
    await fill('apples', jpegs(90));
    const [files] = await classFolders(folder);
    expect(files?.length).toBe(30);
    expect(files?.at(-1)).toBe(join(folder, 'apples', '187.jpg'));
  });

  it('takes 500 of more classes, from all of them', async () => {
    for (let i = 0; i < 1000; i++) await fill(`${1000 + i}`, jpegs(3));
    const found = await classFolders(folder);
    expect(found.length).toBe(500);
    expect(found.at(-1)?.[0]).toBe(join(folder, '1998', '100.jpg'));
  });

  it('says what is missing', async () => {
    await expect(classFolders(join(folder, 'nowhere'))).rejects.toThrow('There is no folder');
    await expect(classFolders(folder)).rejects.toThrow('There must be one folder per class');
    await fill('apples', jpegs(2));
    await expect(classFolders(folder)).rejects.toThrow('contains no folder with 3 pictures of a class');
  });
});

describe('analyzeClasses', () => {
  const classes = [
    ['a1', 'a2', 'a3'],
    ['b1', 'cut', 'b3'],
    ['c1', 'c2', 'cut', 'c4'],
  ];
  const see = async (files: readonly string[]) =>
    files.filter((file) => file !== 'cut').map((file) => file.toUpperCase());

  it('returns the features of each class, except those with fewer than three readable pictures', async () => {
    expect(await analyzeClasses('fruit', classes, see)).toEqual([
      ['A1', 'A2', 'A3'],
      ['C1', 'C2', 'C4'],
    ]);
  });

  it('refuses classes of which none can be read', async () => {
    await expect(analyzeClasses('fruit', classes.slice(1, 2), see)).rejects.toThrow(
      'fruit contains no folder with 3 readable pictures of a class',
    );
  });
});
