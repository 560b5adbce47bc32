import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServingAkin, serveAkin, temporaryFolder, until } from './akin.ts';
import { examplesIn, outcomeOf, type ResponseBody, testedBlock } from './examples.ts';
import { pasteJson, run } from './shell.ts';

let data: Awaited<ReturnType<typeof temporaryFolder>>;
let akin: ServingAkin;
const inPlace = (name: string) => path.join(data.folder, name);
beforeAll(async () => {
  data = await temporaryFolder();
  akin = await serveAkin(['--data', inPlace('data')], {}, { first: true });
  await akin.command.waitForOutput(/Three requests to paste:\n(.*\n){3}/);
});
afterAll(async () => {
  await akin?.command.stop();
  await data?.remove();
});

/** A page of this repository, for this akin. */
const pageOf = async (name: string) =>
  (await readFile(new URL(`../../${name}`, import.meta.url), 'utf8')).replaceAll('http://127.0.0.1:8983', akin.url);

/** Sends the requests of a block, and expects that each is answered. */
async function send(page: string, kind: string) {
  const bodies = [];
  for (const request of testedBlock(page, kind).trim().split('\n\n')) {
    const body = await pasteJson(request, data.folder);
    expect([request, body.responseHeader.status]).toEqual([request, 0]);
    bodies.push(body);
  }
  return bodies;
}

describe('the first start', () => {
  it('fills the demo while it answers', async () => {
    const demo = await readFile(new URL('../../apps/akin/demo/documents.json', import.meta.url), 'utf8');
    const { documents } = await akin.client.collection('my-collection').status();
    expect(documents).toBe(JSON.parse(demo).documents.length);
    expect(akin.command.err).toBe('');
  });

  it('prints three requests that work unchanged', async () => {
    const requests = akin.command.out.match(/^ {2}curl .*$/gm) ?? [];
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      expect((await pasteJson(request)).response.docs.length).toBeGreaterThan(1);
    }
  });
});

describe('the requests of', () => {
  it('the README are answered', async () => {
    const bodies = await send(await pageOf('README.md'), 'requests');
    expect(bodies).toHaveLength(8);
    const found = bodies.flatMap(({ response }) => response?.docs.length ?? []);
    // Some documents, similar ones, red ones, ones similar to an upload, copies.
    expect(found).toEqual([3, 5, 5, 5, expect.any(Number)]);
    expect(found[4]).toBeGreaterThan(1);
  });

  it('the page for shops are answered', async () => {
    const page = await pageOf('docs/shop.md');
    await send(page, 'schema');
    const bodies = await send(page, 'requests');
    expect(bodies.map(({ response }) => response.docs.length)).toEqual([4, 4, 4, 4]);
    expect(bodies[3].facet_counts.facet_fields.category).toHaveLength(10);
  });

  it('the page about searching find what it says', async () => {
    const page = await pageOf('docs/search.md');
    const examples = examplesIn(page);
    expect(examples.length).toBeGreaterThan(80);
    const found: object[] = [];
    // One by one: a hundred together may wait longer for each other than akin lets them.
    for (const example of examples) {
      const response = await fetch(`${akin.url}/api/cores/my-collection/${example.path}`);
      found.push(outcomeOf(example, response.status, (await response.json()) as ResponseBody));
    }
    expect(found).toEqual(examples.map(({ expected }) => expected));

    const block = (kind: string) => page.match(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, 'ms'))?.[1] ?? '';
    expect((await pasteJson(block('sh'))).response.numFound).toBe(13);
    const program = block('python');
    const [, printed] = program.match(/^print\(.*\) {2}# (.*)$/m) ?? [];
    expect(await run('python3', ['-c', program], { install: 'apt-get install python3' })).toBe(`${printed}\n`);
  });

  it('the page about tags and groups are answered', async () => {
    const page = await pageOf('docs/tags-and-groups.md');
    const tags = await send(page, 'tags');
    expect(tags.map(({ tags: [first] }) => first?.tag)).toEqual(['electronics', 'electronics', 'electronics']);
    expect(tags.map(({ voters }) => voters)).toEqual([20, 20, 20]);
    const collection = akin.client.collection('my-collection');
    await until('the groups are right up to the last commit', async () => {
      const { commit, asOfCommit } = await collection.groups({ rows: 0 });
      return asOfCommit === commit;
    });
    const groups = await send(page, 'groups');
    expect(groups).toHaveLength(2);
    expect(groups[0].groups).toHaveLength(5);
    for (const { groups: found } of groups) {
      expect(found.every(({ members }: { members: unknown[] }) => members.length > 1)).toBe(true);
    }
  });
});
