import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServingAkin, serveAkin, temporaryFolder, until } from './akin.ts';
import { openPage, startBrowser } from './browser.ts';
import { copyOf, picture, servePictures, UNLIKE } from './pictures.ts';
import { run } from './shell.ts';

/** With this others make types of the interface; it needs a TypeScript that programs can call. */
const TYPES_OF_OPENAPI = ['openapi-typescript@7.13.0', 'typescript@5.9.3'];
/** Compilers that read the client's types, by the names under which they are installed. */
const OLDER = { 'typescript-5.0': '5.0.4', 'typescript-5.5': '5.5.4' };
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const TYPES = fileURLToPath(new URL('../../node_modules/@types', import.meta.url));
const PACK = new URL('../../infra/scripts/pack.mjs', import.meta.url).href;

/** A folder of a user who has npm and no part of this repository. */
let home: Awaited<ReturnType<typeof temporaryFolder>>;
let akin: ServingAkin | undefined;
/** The client for Python. */
let wheel: string;
const installed = (...below: string[]) => path.join(home.folder, 'project', 'node_modules', ...below);

beforeAll(async () => {
  home = await temporaryFolder();
  const project = path.join(home.folder, 'project');
  // npm test runs under npm too, and its settings for this repository are not the user's.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const program = `import { pack } from ${JSON.stringify(PACK)}; console.log((await pack(process.argv[1])).join('\\n'));`;
  const packed = await run(process.execPath, ['--input-type=module', '-e', program, path.join(home.folder, 'dist')], {
    env,
  });
  const files = packed.trim().split('\n');
  const tarballs = files.filter((file) => file.endsWith('.tgz'));
  expect(tarballs).toHaveLength(2);
  wheel = files.find((file) => file.endsWith('.whl')) ?? '';
  // Not by --prefix, which would hide the settings of the machine for registries and certificates.
  await mkdir(project);
  await writeFile(path.join(project, 'package.json'), '{}');
  const older = Object.entries(OLDER).map(([name, version]) => `${name}@npm:typescript@${version}`);
  await run('npm', ['install', '--no-audit', '--no-fund', ...tarballs, ...TYPES_OF_OPENAPI, ...older], {
    env,
    cwd: project,
  });
}, 600_000);
afterAll(async () => {
  await akin?.command.stop();
  await home?.remove();
});

describe('the packages', () => {
  it('install without this repository, with no duplicates and no development files', async () => {
    expect(await readdir(installed('akin-search', 'node_modules', '@akin'))).not.toContain('testing');
    for (const name of ['akin-search', 'akin-client']) {
      const {
        version,
        license,
        engines,
        private: hidden,
      } = JSON.parse(await readFile(installed(name, 'package.json'), 'utf8'));
      expect({ license, hidden, node: engines.node }).toEqual({
        license: 'Apache-2.0',
        hidden: undefined,
        node: '^20.19.0 || >=22.12.0',
      });
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(await readdir(installed(name))).toEqual(
        expect.arrayContaining(['CHANGELOG.md', 'LICENSE', 'NOTICE', 'README.md']),
      );
    }
    expect(await readdir(installed('@types')).catch(() => [])).toEqual([]);
    expect(await readdir(installed('.bin'))).toEqual(expect.arrayContaining(['akin', 'akin-search']));
  });

  it('serve, accept a document with a picture and find it, with the installed client', async () => {
    await using pictures = await servePictures();
    const program = installed('akin-search', 'bin', 'akin.mjs');
    akin = await serveAkin(
      ['--data', path.join(home.folder, 'data'), '--no-demo', '--cors', '*'],
      {},
      { program, first: true },
    );
    const page = await (await fetch(`${akin.url}/`)).text();
    const [, script = ''] = page.match(/src="(\/assets\/[^"]+\.js)"/) ?? [];
    expect((await fetch(`${akin.url}${script}`)).status).toBe(200);
    const guide = await (await fetch(`${akin.url}/llms.txt`)).text();
    for (const [, address] of guide.matchAll(/\]\((\/[^)]+)\)/g)) {
      expect([address, (await fetch(`${akin.url}${address}`)).status]).toEqual([address, 200]);
    }
    const use = `
      import { createClient } from 'akin-client';
      const [url, image] = process.argv.slice(1);
      const collection = createClient({ baseUrl: url }).collection('my-collection');
      await collection.add([{ id: 'shoe', image, price: 12.5 }], { commit: true });
      const { response } = await collection.image({ 'rank.by.id': 'shoe', fl: 'id,price,score' });
      console.log(JSON.stringify(response.docs));
    `;
    const cwd = path.join(home.folder, 'project');
    const printed = await run(process.execPath, ['--input-type=module', '-e', use, akin.url, `${pictures.url}/1.jpg`], {
      cwd,
    });
    expect(JSON.parse(printed)).toEqual([{ id: 'shoe', price: 12.5, score: 1 }]);
  });

  it('serve a description of the interface from which others make types', async () => {
    const cwd = path.join(home.folder, 'project');
    for (const name of ['openapi', 'openapi-legacy']) {
      const cli = installed('openapi-typescript', 'bin', 'cli.js');
      await run(process.execPath, [cli, `${akin?.url}/${name}.json`, '-o', `${name}.d.ts`], { cwd });
    }
    const use = `
      import type { paths } from './openapi.d.ts';
      const query: paths['/api/cores/{collection}/image']['get']['parameters']['query'] = { rows: 5, 'rank.by.id': ['1'] };
      // @ts-expect-error rows is a number
      const wrong: typeof query = { rows: 'five' };
      export const both = [query, wrong];
    `;
    await writeFile(path.join(cwd, 'types.mts'), use);
    await run(process.execPath, [TSC, '--strict', '--noEmit', '--module', 'nodenext', '--types', '', 'types.mts'], {
      cwd,
    });
  });

  it('have a client whose types all compilers from 5.0 read, with both kinds of resolution', async () => {
    const cwd = path.join(home.folder, 'project');
    const use = `
      import { createClient, filter, type Picture } from 'akin-client';
      interface Shoe { id: string; brand: string; price: number; sold?: Date; 'net weight'?: number }
      const shoes = createClient({ baseUrl: '' }).collection<Shoe>('shoes');
      export async function use(picture: Picture) {
        await shoes.addPicture({ id: '4', brand: 'Ada', price: 1 }, 'photo.jpg', { wait: true });
        const named = { fields: ['brand', 'color_names', 'content_rerank'], filter: filter\`brand:\${'a'}\` } as const;
        const [near] = (await shoes.similar({ id: '1', file: picture }, named)).documents;
        const [score, names]: [number | undefined, string[] | undefined] = [near?.score, near?.color_names];
        // @ts-expect-error the price is not named
        near?.price;
        // @ts-expect-error no document has a prize
        await shoes.similar({ id: '1' }, { fields: ['prize'] });
        const [first] = (await shoes.search('ada')).documents;
        const [price, sold]: [number | undefined, string | undefined] = [first?.price, first?.sold];
        const bare = await shoes.get('1', { fields: [] });
        // @ts-expect-error only the id
        bare?.brand;
        const [more] = await shoes.get(['1'], { fields: ['*', 'copyspace'] });
        const spaces: number[] | undefined = more?.copyspace;
        for await (const one of shoes.documents({ fields: ['net weight'] })) one['net weight']?.toFixed();
        const any = createClient({ baseUrl: '' }).collection('any');
        const value: unknown = (await any.similar({ color: '#fff' }, { fields: ['anything'] })).documents[0]?.anything;
        return [score, names, price, sold, spaces, value, (await any.get('1'))?.whatever];
      }
    `;
    await writeFile(path.join(cwd, 'client.ts'), use);
    const compile = (compiler: string, module: string, resolution: string) =>
      run(
        process.execPath,
        [
          ...[compiler, '--strict', '--noEmit', '--target', 'es2022', '--module', module],
          ...['--moduleResolution', resolution, 'client.ts'],
        ],
        { cwd },
      );
    for (const name of ['typescript', ...Object.keys(OLDER)]) {
      await compile(installed(name, 'lib', 'tsc.js'), 'commonjs', 'node');
      await compile(installed(name, 'lib', 'tsc.js'), 'esnext', 'bundler');
    }
    await compile(TSC, 'esnext', 'bundler');
  });

  it('have a client whose README contains a program with its true output', async () => {
    await using pictures = await servePictures();
    const cwd = path.join(home.folder, 'project');
    await writeFile(path.join(cwd, 'photo.jpg'), await picture(3));
    const readme = await readFile(installed('akin-client', 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block);
    expect(blocks).toHaveLength(5);
    const program = blocks
      .join('')
      .replaceAll('https://example.org', pictures.url)
      .replaceAll('http://127.0.0.1:8983', akin?.url ?? '');
    await writeFile(path.join(cwd, 'readme.mts'), program);
    const types = ['--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--typeRoots', TYPES];
    await run(process.execPath, [TSC, ...types, 'readme.mts'], { cwd });
    const printed = (await run(process.execPath, ['readme.mjs'], { cwd })).split('\n');
    const expected = [...program.matchAll(/^ *(?:if .*)?console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    expect(expected.length).toBeGreaterThan(8);
    const told = printed.filter((line) => line !== '' && line !== 'string string number');
    expect(told).toEqual(expected.filter((text) => text !== 'groups of near-duplicates'));
  });

  it('are enough for the examples', async () => {
    const url = akin?.url ?? '';
    const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
    const cwd = path.join(home.folder, 'project');
    const folder = path.join(home.folder, 'pictures');
    await mkdir(folder);
    const drawn = await Promise.all(UNLIKE.map((seed) => picture(seed)));
    await Promise.all(drawn.map((bytes, index) => writeFile(path.join(folder, `${index}.jpg`), bytes)));
    await writeFile(path.join(folder, 'copy.jpg'), await copyOf(drawn[1] as Buffer));
    const { version } = JSON.parse(await readFile(installed('akin-client', 'package.json'), 'utf8'));
    expect(path.basename(wheel)).toBe(`akin_client-${version}-py3-none-any.whl`);
    // Python imports from a wheel as it is.
    const env = { ...process.env, PYTHONPATH: wheel };
    const python = await run('python3', [example('import_pipeline.py'), url, url, folder], { env });
    expect(python).toBe('5 pictures stored\n');

    const groups = `${url}/api/cores/my-collection/groups`;
    await until('groups are up to date', async () => {
      const { numFoundExact } = (await (await fetch(groups)).json()) as { numFoundExact: boolean };
      return numFoundExact;
    });
    await cp(example('duplicate-report.mjs'), path.join(cwd, 'duplicate-report.mjs'));
    const report = await run(process.execPath, ['duplicate-report.mjs'], {
      cwd,
      env: { ...process.env, AKIN_URL: url },
    });
    expect(report).toMatch(/^# \d groups? of near-duplicates in my-collection\n/);
    expect(report).toMatch(/^- copy\.jpg \(/m);

    const page = await readFile(example('similar-products.html'));
    const shop = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page));
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    const browser = await startBrowser();
    try {
      const { port } = shop.address() as AddressInfo;
      const query = new URLSearchParams({ akin: url, product: '1.jpg' });
      const opened = await openPage(browser, `http://127.0.0.1:${port}/?${query}`);
      await opened.page.getByText('copy.jpg').waitFor();
      await opened.page.locator('li').nth(3).waitFor();
    } finally {
      await browser.close();
      shop.closeAllConnections();
      shop.close();
    }
  });
});
