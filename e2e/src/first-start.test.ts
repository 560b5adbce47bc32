import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '@akin/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin, type ServingAkin, serveAkin, temporaryFolder, until } from './akin.ts';
import { examplesIn, outcomeOf, type ResponseBody } from './examples.ts';
import { pasteJson, run } from './shell.ts';

const README = new URL('../../README.md', import.meta.url);
const SHOP_PAGE = new URL('../../docs/shop.md', import.meta.url);
const SEARCH_PAGE = new URL('../../docs/search.md', import.meta.url);
const TAGS_PAGE = new URL('../../docs/tags-and-groups.md', import.meta.url);

let data: Awaited<ReturnType<typeof temporaryFolder>>;
let akin: ServingAkin;
beforeAll(async () => {
  data = await temporaryFolder();
  const killed = await serveAkin(['--data', path.join(data.folder, 'data')], {}, { first: true });
  await killed.command.waitForOutput(/Demo: 64 of/);
  await killed.command.stop('SIGKILL');
  akin = await serveAkin(['--data', path.join(data.folder, 'data')]);
  await akin.command.waitForOutput(/Three requests to paste:\n(.*\n){3}/);
});
afterAll(async () => {
  await akin?.command.stop();
  await data?.remove();
});

const documents = async () => (await akin.client.collection('my-collection').status()).documents;

describe('the first start', () => {
  it('fills the demo while it answers, also when it was killed half-way', async () => {
    const [, count] = akin.command.out.match(/Demo: (\d+) of \1 pictures/) ?? [];
    expect(Number(count)).toBeGreaterThan(200);
    expect(await documents()).toBe(Number(count));
    expect(akin.command.err).toBe('');
  });

  it('prints three requests that work unchanged', async () => {
    const requests = akin.command.out.match(/^ {2}curl .*$/gm) ?? [];
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      const body = await pasteJson(request);
      expect(body.responseHeader.status).toBe(0);
      expect(body.response.docs.length).toBeGreaterThan(1);
    }
  });

  it('answers every request of the README', async () => {
    const readme = await readFile(README, 'utf8');
    const [, block = ''] = readme.match(/<!-- tested: requests -->\n```sh\n([^`]*)```/) ?? [];
    const requests = block.replaceAll('http://127.0.0.1:8983', akin.url).trim().split('\n\n');
    expect(requests).toHaveLength(8);
    const found: number[] = [];
    for (const request of requests) {
      const body = await pasteJson(request, data.folder);
      expect([request, body.responseHeader.status]).toEqual([request, 0]);
      if (body.response) found.push(body.response.docs.length);
    }
    // Some documents, similar ones, red ones, ones similar to an upload, copies.
    expect(found).toEqual([3, 5, 5, 5, expect.any(Number)]);
    expect(found[4]).toBeGreaterThan(1);
  });
});

describe('the page for shops', () => {
  it('has requests that answer as they stand there', async () => {
    const page = (await readFile(SHOP_PAGE, 'utf8')).replaceAll('http://127.0.0.1:8983', akin.url);
    const [schema = '', block = ''] = ['schema', 'requests'].map(
      (kind) => page.match(new RegExp(`<!-- tested: ${kind} -->\n\`\`\`sh\n([^\`]*)\`\`\``))?.[1],
    );
    expect((await pasteJson(schema)).responseHeader.status).toBe(0);
    const requests = block.trim().split('\n\n');
    const bodies = await Promise.all(requests.map((request) => pasteJson(request, data.folder)));
    expect(bodies.map(({ response }) => response.docs.length)).toEqual([4, 4, 4, 4]);
    expect(bodies[3].facet_counts.facet_fields.category).toHaveLength(10);
  });
});

describe('the page about searching', () => {
  it('says what every search finds', async () => {
    const examples = examplesIn(await readFile(SEARCH_PAGE, 'utf8'));
    expect(examples.length).toBeGreaterThan(80);
    const found: object[] = [];
    // One by one: a hundred at once may wait longer for each other than akin lets them.
    for (const example of examples) {
      const response = await fetch(`${akin.url}/api/cores/my-collection/${example.path}`);
      found.push({
        line: example.line,
        ...outcomeOf(example, response.status, (await response.json()) as ResponseBody),
      });
    }
    expect(found).toEqual(examples.map(({ line, expected }) => ({ line, ...expected })));
  });

  it('has a request and a program that work as written', async () => {
    const page = (await readFile(SEARCH_PAGE, 'utf8')).replaceAll('http://127.0.0.1:8983', akin.url);
    const block = (kind: string) => page.match(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? '';
    expect((await pasteJson(block('sh'))).response.numFound).toBe(13);
    const program = block('python');
    const [, printed] = program.match(/^print\(.*\) {2}# (.*)$/m) ?? [];
    expect(await run('python3', ['-c', program], { install: 'apt-get install python3' })).toBe(`${printed}\n`);
  });
});

describe('the page about tags and groups', () => {
  it('has requests that answer as they stand there', async () => {
    const page = (await readFile(TAGS_PAGE, 'utf8')).replaceAll('http://127.0.0.1:8983', akin.url);
    const requests = (kind: string) =>
      (page.match(new RegExp(`<!-- tested: ${kind} -->\n\`\`\`sh\n(.*?)\n\`\`\``, 's'))?.[1] ?? '').split('\n\n');
    const tags = await Promise.all(requests('tags').map((request) => pasteJson(request, data.folder)));
    expect(tags.map(({ tags: [first] }) => first?.tag)).toEqual(['electronics', 'electronics', 'electronics']);
    expect(tags.map(({ voters }) => voters)).toEqual([20, 20, 20]);
    const collection = akin.client.collection('my-collection');
    await until('the groups are right up to the last commit', async () => {
      const { commit, asOfCommit } = await collection.groups({ rows: 0 });
      return asOfCommit === commit;
    });
    const groups = await Promise.all(requests('groups').map((request) => pasteJson(request, data.folder)));
    expect(groups).toHaveLength(2);
    expect(groups[0].groups).toHaveLength(5);
    for (const { groups: found } of groups) {
      expect(found.every(({ members }: { members: unknown[] }) => members.length > 1)).toBe(true);
    }
  });
});

describe('the next start', () => {
  it('answers from the existing data, does not fill the demo again, and prints three requests that work with a key', async () => {
    const before = await documents();
    expect(await akin.command.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
    const folder = path.join(data.folder, 'data');
    const key = (await runAkin(['keys', 'create', '--scope', 'search', '--data', folder])).out.trim();
    const keyed = await serveAkin(['--require-keys'], { AKIN_DATA: folder });
    try {
      await keyed.command.waitForOutput(/Three requests to paste, with a key in the variable AKIN_KEY:\n(.*\n){3}/);
      const requests = keyed.command.out.match(/^ {2}curl .*$/gm) ?? [];
      expect(requests).toHaveLength(3);
      for (const request of requests) {
        expect((await pasteJson(`AKIN_KEY=${key}; ${request}`)).responseHeader.status).toBe(0);
      }
      const collection = createClient({ baseUrl: keyed.url, key }).collection('my-collection');
      expect((await collection.status()).documents).toBe(before);
      expect(keyed.command.out).not.toMatch(/Demo:/);
    } finally {
      await keyed.command.stop();
      akin = await serveAkin(['--data', folder]);
    }
  });

  it('does not continue the demo in a collection that has other documents by now', async () => {
    const folder = path.join(data.folder, 'data');
    await akin.client.collection('my-collection').add([{ id: 'mine' }], { commit: true });
    await akin.command.stop();
    await writeFile(path.join(folder, 'demo', 'my-collection.filled'), '');
    akin = await serveAkin(['--data', folder]);
    await akin.command.waitForOutput(/Three requests/);
    expect(akin.command.out).not.toMatch(/Demo:/);
  });

  it('is refused while another akin uses the folder, or the port', async () => {
    const folder = await runAkin(['serve', '--port', '0', '--data', path.join(data.folder, 'data')]);
    expect([folder.code, folder.err]).toEqual([1, expect.stringContaining('choose another folder with --data')]);
    const port = await runAkin(['serve', '--no-demo'], {
      env: { PORT: new URL(akin.url).port, AKIN_DATA: path.join(data.folder, 'other') },
    });
    expect([port.code, port.err]).toEqual([1, expect.stringContaining('with --port')]);
  });
});

describe('flags', () => {
  it('come from the environment too', async () => {
    const other = await serveAkin(['--cors', 'https://shop.example'], {
      AKIN_DATA: path.join(data.folder, 'other'),
      AKIN_NO_DEMO: 'yes',
      AKIN_LEGACY_SEGMENT: 'flow',
    });
    try {
      await other.command.waitForOutput(/The collection is empty. To fill it: npx akin-search index/);
      const origin = { origin: 'https://shop.example' };
      const response = await fetch(`${other.url}/flow/my-collection/select`, { headers: origin });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin.origin]);
      expect((await fetch(`${other.url}/solr/my-collection/select`)).status).toBe(404);
    } finally {
      await other.command.stop();
    }
  });
});

describe('a backup', () => {
  it('is taken while changes and searches go on, and contains everything that was accepted before', async () => {
    const before = await documents();
    const file = path.join(data.folder, 'akin.backup');
    const collection = akin.client.collection('my-collection');
    // Accepted, but not visible yet.
    await collection.add([{ id: 'waits', title: 'waits for a commit' }], { async: true });
    const saving = runAkin(['backup', file, '--data', path.join(data.folder, 'data')]);
    let saved: Awaited<typeof saving> | undefined;
    void saving.then((ended) => {
      saved = ended;
    });
    for (let more = 0; saved === undefined; more += 1) {
      await collection.add([{ id: `later-${more}`, number: more }], { commit: true });
      expect((await collection.image({ 'rank.by.id': 'demo-006', rows: 1 })).response.docs).toHaveLength(1);
    }
    expect([saved.err, saved.code]).toEqual(['', 0]);
    await akin.command.stop();
    const stopped = await runAkin(['backup', `${file}-2`, '--data', path.join(data.folder, 'data')]);
    expect([stopped.err, stopped.code]).toEqual(['', 0]);

    const restored = path.join(data.folder, 'restored');
    expect(await runAkin(['restore', file, '--data', restored])).toMatchObject({ code: 0, err: '' });
    expect((await runAkin(['restore', file, '--data', restored])).code).toBe(1);
    akin = await serveAkin(['--data', restored]);
    await akin.command.waitForOutput(/Three requests/);
    await akin.client.collection('my-collection').commit();
    const found = async (q: string) => (await akin.client.collection('my-collection').select({ q })).response.numFound;
    expect([await found('-id:later-*'), await found('id:waits')]).toEqual([before + 1, 1]);
    const { response } = await akin.client.collection('my-collection').image({ 'rank.by.id': 'demo-006', rows: 5 });
    expect(response.docs).toHaveLength(5);
  });
});
