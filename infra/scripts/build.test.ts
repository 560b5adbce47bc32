import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { build } from './build.mjs';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'akin-build-'));
  await addPackage(
    'packages/needed',
    { '@akin/far': 'workspace:*', zod: '4' },
    "export const needed: string = 'needed';",
  );
  await addPackage('packages/far', {}, 'export const far: number = 1;');
  await addPackage('packages/unneeded', {}, 'export const unneeded = 1;');
  await addPackage(
    'apps/akin',
    { '@akin/needed': 'workspace:*' },
    "import { needed } from '@akin/needed'; export { needed };",
  );
  await write('pnpm-lock.yaml', '');
  await link('packages/needed', 'apps/akin/node_modules/@akin/needed');
  await link('packages/far', 'packages/needed/node_modules/@akin/far');
  await mkdir(join(root, 'node_modules'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('builds what serving needs, again when it has changed or failed, and nothing else', async () => {
  expect(await built()).toEqual(['apps/akin', 'packages/far', 'packages/needed']);
  expect(await readFile(join(root, 'packages/needed/dist/index.js'), 'utf8')).toContain('needed = "needed"');
  expect(await built()).toEqual([]);
  await write('packages/far/src/index.ts', 'export const far = [;');
  await expect(built()).rejects.toThrow('packages/far');
  await write('packages/far/src/index.ts', 'export const far: number = 2;');
  expect(await built()).toEqual(['packages/far']);
  await rm(join(root, 'packages/needed/dist'), { recursive: true });
  expect(await built()).toEqual(['packages/needed']);
});

/** The packages that were built, in the order of their names. */
async function built(): Promise<string[]> {
  const folders: string[] = await build(root, ['apps/akin'], async (args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  });
  return folders.map((folder) => folder.slice(folder.search(/(apps|packages)\//))).sort();
}

async function addPackage(folder: string, dependencies: Record<string, string>, source: string): Promise<void> {
  await write(`${folder}/package.json`, JSON.stringify({ name: folder, type: 'module', dependencies }));
  await write(`${folder}/src/index.ts`, source);
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

async function link(target: string, file: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await symlink(join(root, target), join(root, file));
}
