import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { listFiles } from './list-files.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'akin-files-'));
  for (const folder of ['pictures/b', 'pictures/ünï 图片', 'elsewhere']) {
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(join(root, folder, 'one.jpg'), '');
  }
  await writeFile(join(root, 'pictures/b/.hidden.jpg'), '');
  await symlink('b', join(root, 'pictures/a link to b'));
  await symlink('../elsewhere', join(root, 'pictures/a'));
  await symlink('../pictures', join(root, 'elsewhere/back'));
  await symlink('b/one.jpg', join(root, 'pictures/again.jpg'));
  await symlink('nowhere', join(root, 'pictures/broken.jpg'));
});
afterAll(() => rm(root, { recursive: true }));

it('lists each file below a folder once, by its real path, also through links', async () => {
  expect(await listFiles(join(root, 'pictures'))).toEqual(
    ['a/one.jpg', 'b/one.jpg', 'ünï 图片/one.jpg'].map((path) => join(root, 'pictures', path)),
  );
});

it('takes a link to a folder for the folder', async () => {
  expect(await listFiles(join(root, 'pictures/a link to b'))).toEqual([join(root, 'pictures/a link to b/one.jpg')]);
});

it('reports a path that is not a folder', async () => {
  await expect(listFiles(join(root, 'nowhere'))).rejects.toThrow(`There is no folder ${join(root, 'nowhere')}.`);
  const file = join(root, 'pictures/b/one.jpg');
  await expect(listFiles(file)).rejects.toThrow(`${file} is not a folder.`);
});
