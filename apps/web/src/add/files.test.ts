import { expect, it } from '@jest/globals';
import { droppedFiles } from './files.ts';

const file = (path: string) => ({
  isDirectory: false,
  fullPath: `/${path}`,
  file: (resolve: (file: File) => void) => resolve(new File(['x'], path)),
});
const unreadable = (path: string) => ({
  isDirectory: false,
  fullPath: `/${path}`,
  file: (_: unknown, reject: (error: Error) => void) => reject(new Error('It was removed.')),
});
const folder = (path: string, entries: readonly unknown[]) => ({
  isDirectory: true,
  fullPath: `/${path}`,
  createReader() {
    const left = [[...entries], []];
    return { readEntries: (resolve: (entries: unknown) => void) => resolve(left.shift()) };
  },
});
const closed = {
  ...folder('a/closed', []),
  createReader: () => ({ readEntries: (_: unknown, reject: (error: Error) => void) => reject(new Error('No.')) }),
};

it('lists dropped files and the files of dropped folders, and counts what cannot be read', async () => {
  const entries = [folder('a', [file('a/2.png'), unreadable('a/gone.png'), closed, file('a/1.png')]), file('b.png')];
  const items = entries.map((entry) => ({ webkitGetAsEntry: () => entry }));
  const dropped = await droppedFiles({ items } as unknown as DataTransfer);
  expect(dropped.files.map(({ path }) => path)).toEqual(['a/1.png', 'a/2.png', 'b.png']);
  expect(dropped.unreadable).toBe(2);
});
