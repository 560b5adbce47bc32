import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findViolations } from './lint-imports.mjs';

describe('the import table', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'akin-imports-'));
    await write('package.json', { devDependencies: { '@jest/globals': '1.0.0' } });
  });
  afterEach(() => rm(root, { recursive: true }));

  async function write(path: string, content: string | object): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
  }

  /** A package with the dependencies that its row allows. */
  async function addPackage(path: string, name: string, dependencies: string[], files: Record<string, string>) {
    const versions = Object.fromEntries(dependencies.map((dependency) => [dependency, '1.0.0']));
    await write(`${path}/package.json`, { name, dependencies: versions });
    for (const [file, text] of Object.entries(files)) await write(`${path}/${file}`, text);
  }

  it('lets a package import what its row names, itself, and packages that it declares', async () => {
    await addPackage('packages/store', '@akin/store', ['@akin/domain', 'pg'], {
      'src/index.ts': `import { Client } from 'pg'; export * from '@akin/domain'; import './other.ts'; import 'node:fs';`,
      'src/other.ts': `// import '@akin/gateway'\nexport const text = "import '@akin/gateway'";`,
      'src/a.test.ts': `import { it } from '@jest/globals';`,
    });
    expect(findViolations(root)).toEqual([]);
  });

  it('finds files that import each other in a circle, by their types too', async () => {
    await addPackage('packages/domain', '@akin/domain', [], {
      'src/a.ts': `import { b } from './b.ts';`,
      'src/b.ts': `import type { C } from './c.ts'; export const b = 1;`,
      'src/c.ts': `export type { A as C } from './a.ts';`,
      'src/d.ts': `import './a.ts';`,
    });
    expect(findViolations(root)).toEqual([
      'packages/domain/src/a.ts: imports in a circle: src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts',
    ]);
  });

  it('lets only the lab see the inside of modules', async () => {
    const file = { 'src/a.ts': `import '@akin/modules/internal/half';` };
    await addPackage('lab', '@akin/lab', ['@akin/modules'], file);
    await addPackage('apps/analyzer', '@akin/analyzer', ['@akin/modules'], file);
    expect(findViolations(root)).toEqual(['apps/analyzer/src/a.ts: may not import @akin/modules/internal/half']);
  });

  it.each([
    ['a static import', `import { gateway } from '@akin/gateway';`],
    ['an import of a type', `import type { Gateway } from '@akin/gateway';`],
    ['a re-export', `export { gateway } from '@akin/gateway';`],
    ['a dynamic import', `export const load = () => import('@akin/gateway');`],
    ['a type in place', `export type Gateway = import('@akin/gateway').Gateway;`],
  ])('refuses %s of another package', async (_, text) => {
    await addPackage('packages/store', '@akin/store', ['@akin/domain'], { 'src/index.ts': text });
    expect(findViolations(root)).toContain('packages/store/src/index.ts: may not import @akin/gateway');
  });

  it('refuses a dependency that the row does not name', async () => {
    await addPackage('packages/domain', '@akin/domain', ['@akin/store'], {});
    expect(findViolations(root)).toEqual(['packages/domain/package.json: dependencies may not name @akin/store']);
  });

  it('refuses an entry point of a package whose other entry points are allowed', async () => {
    await addPackage('apps/gateway', '@akin/gateway', ['@akin/modules'], {
      'src/index.ts': `import '@akin/modules/vectors'; import '@akin/modules/analyze';`,
    });
    expect(findViolations(root)).toEqual(['apps/gateway/src/index.ts: may not import @akin/modules/analyze']);
  });

  it('refuses a relative path from a layer of a package into a higher one, but for tests', async () => {
    const upwards = `import type { Store } from '../../changes/context.ts';`;
    await addPackage('packages/store', '@akin/store', [], {
      'src/open.ts': `import './changes/commit.ts';`,
      'src/changes/commit.ts': `import '../database/index.ts'; import '../search/index.ts';`,
      'src/database/engine.ts': `import '../open.ts';`,
      'src/search/rank/rank.ts': upwards,
      'src/search/rank/rank.test.ts': upwards,
    });
    expect(findViolations(root)).toEqual([
      'packages/store/src/database/engine.ts: may not import ../open.ts of a higher layer',
      'packages/store/src/search/rank/rank.ts: may not import ../../changes/context.ts of a higher layer',
    ]);
  });

  it('refuses a relative path into another package', async () => {
    await addPackage('packages/store', '@akin/store', [], { 'src/index.ts': `import '../../domain/src/index.ts';` });
    expect(findViolations(root)).toEqual([
      'packages/store/src/index.ts: reaches out of its package: ../../domain/src/index.ts',
    ]);
  });

  it('refuses a package that is not declared, and in source one declared for development alone', async () => {
    await addPackage('packages/store', '@akin/store', [], { 'src/index.ts': `import 'pg'; import '@jest/globals';` });
    expect(findViolations(root)).toEqual([
      'packages/store/src/index.ts: imports pg, which its package.json does not name',
      'packages/store/src/index.ts: imports @jest/globals, which its package.json does not name',
    ]);
  });

  it('refuses Node in a package that browsers run', async () => {
    await addPackage('packages/client', '@akin/client', [], { 'src/index.ts': `import { readFile } from 'node:fs';` });
    expect(findViolations(root)).toEqual(['packages/client/src/index.ts: runs in browsers, which have no node:fs']);
  });

  it('refuses a heavy import behind a light entry point, through any number of files', async () => {
    await addPackage('packages/modules', '@akin/modules', ['sharp'], {
      'src/manifests.ts': `export * from './a.ts';`,
      'src/a.ts': `export * from './b.ts'; import type { Sharp } from 'sharp';`,
      'src/b.ts': `import sharp from 'sharp';`,
    });
    expect(findViolations(root)).toEqual([
      'packages/modules/src/b.ts: is loaded by a light entry point, so it may not import sharp',
    ]);
  });

  it('refuses a package without a row', async () => {
    await addPackage('packages/utilities', '@akin/utilities', [], {});
    expect(findViolations(root)).toEqual([
      'packages/utilities: has no row in the table of infra/scripts/lint-imports.mjs',
    ]);
  });
});
