import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Collection } from '@akin/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type OwnAkin, runInTurn, serveOnPostgres } from './akin.ts';
import { picture } from './pictures.ts';

type Reply = { status: number; body: object };

let akin: OwnAkin;
let proxy: Server;
/** Answers instead of akin, if set. */
let instead: (asked: string) => Reply | undefined;
let asked: string[];

beforeAll(async () => {
  akin = await serveOnPostgres();
  await mkdir(path.join(akin.folder, 'pictures'));
  for (const seed of [1, 3]) {
    await writeFile(path.join(akin.folder, 'pictures', `${seed}.jpg`), await picture(seed, 120, 90));
  }
  const { hostname, port } = new URL(akin.url);
  proxy = createServer(async (incoming, response) => {
    const { method = '', url = '' } = incoming;
    asked.push(`${method} ${url}`);
    const reply = instead(`${method} ${url}`);
    if (reply) {
      await bodyOf(incoming);
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
      return;
    }
    const headers = { ...incoming.headers, host: `${hostname}:${port}` };
    const passed = request({ hostname, port, method, path: url, headers }, (received) => {
      response.writeHead(received.statusCode ?? 0, received.headers);
      received.pipe(response);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  instead = () => undefined;
  asked = [];
});
afterAll(async () => {
  proxy?.close();
  await akin?.end();
});

async function bodyOf(incoming: IncomingMessage): Promise<void> {
  for await (const _ of incoming);
}

/** A collection whose documents have no outputs, and ids of pictures in the folder. */
async function shelf(name: string): Promise<Collection> {
  const collection = akin.client.collection(name);
  await collection.create();
  await collection.add([{ id: '1.jpg', title: 'one' }, { id: '3.jpg' }, { id: 'plain' }], { commit: true });
  return collection;
}

const reindex = (name: string, ...args: string[]) =>
  runInTurn([
    'reindex',
    path.join(akin.folder, 'pictures'),
    '--url',
    `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    '--collection',
    name,
    '--threads',
    '1',
    ...args,
  ]);

async function names(beginning: string): Promise<string[]> {
  const { collections } = await akin.client.collections();
  return collections.map(({ name }) => name).filter((name) => name.startsWith(beginning));
}

const likeFirst = async (collection: Collection) =>
  (await collection.image({ 'rank.by.id': '1.jpg', rows: 1, fl: 'id,title' })).response.docs;

const beginningFor = (name: string) => `${name.slice(0, 80)}.pictures-`;

/** Ends so that the temporary collection remains. */
async function reindexWithoutDrop(name: string): Promise<{ temporary: string; err: string }> {
  let drops = 0;
  instead = (what) => {
    if (!what.startsWith('DELETE')) return undefined;
    drops++;
    // The first is tried again.
    return { status: drops === 1 ? 503 : 403, body: { error: { msg: `Refused ${drops} times.` } } };
  };
  const { code, out, err } = await reindex(name);
  expect([code, out]).toEqual([0, expect.stringContaining(`${name} is reindexed: 3 documents copied`)]);
  instead = () => undefined;
  const marked = [];
  for (const one of await names(beginningFor(name))) {
    const { schema } = await akin.client.collection(one).schema();
    if (schema.fields.some((field) => field.name.endsWith(` ${name}`))) marked.push(one);
  }
  expect(marked).toHaveLength(1);
  const [temporary = ''] = marked;
  return { temporary, err };
}

describe('akin reindex of a folder', () => {
  it('neither fills nor drops a collection that it did not create', async () => {
    const collection = await shelf('shop');
    const foreign = [await shelf('shop.pictures'), await shelf('shop.pictures-00000000')];
    const { temporary } = await reindexWithoutDrop('shop');
    // A collection of somebody else with the same name.
    await akin.client.collection(temporary).drop();
    foreign.push(await shelf(temporary));
    const { code, err } = await reindex('shop');
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`${temporary} exists, but akin reindex did not create it`),
    ]);
    await foreign.pop()?.drop();
    expect((await reindex('shop')).code).toBe(0);
    for (const one of foreign) expect((await one.status()).documents).toBe(3);
    expect(await names('shop')).toEqual(['shop', 'shop.pictures', 'shop.pictures-00000000']);
    expect(await likeFirst(collection)).toEqual([{ id: '1.jpg', title: 'one' }]);
  });

  it('distinguishes collections whose long names have the same beginning', async () => {
    const long = 'n'.repeat(95);
    for (const end of [1, 2]) await shelf(`${long}${end}`);
    const { temporary } = await reindexWithoutDrop(`${long}1`);
    expect((await reindex(`${long}2`)).code).toBe(0);
    expect(await names(beginningFor(long))).toEqual([temporary]);
  });

  it('reports success before it warns of a collection that it could not remove, and removes it the next time', async () => {
    const collection = await shelf('done');
    const { temporary, err } = await reindexWithoutDrop('done');
    expect(err).toContain(
      `${temporary}, the temporary collection of this reindex, could not be removed (Refused 2 times.)`,
    );
    expect(await likeFirst(collection)).toEqual([{ id: '1.jpg', title: 'one' }]);
    // As a run with other models leaves it.
    const { schema } = await akin.client.collection(temporary).schema();
    const marker = schema.fields.find(({ name }) => name.endsWith('done'))?.name ?? '';
    const older = akin.client.collection('done.pictures-00000000');
    await older.create();
    await older.defineFields({ [marker]: 'string' });
    const { code, out } = await reindex('done');
    expect([code, out]).toEqual([0, expect.stringContaining('0 indexed, 2 unchanged')]);
    expect(await names('done')).toEqual(['done']);
  });

  it('says that it joins a run, and begins again for documents whose pictures that run lacked', async () => {
    const collection = await shelf('joined');
    const status = {
      alive: true,
      documents: 3,
      copied: 3,
      analyzed: 0,
      beganAt: new Date().toISOString(),
      missing: [],
    };
    const missing = [{ id: '1.jpg', code: 'bad-request', msg: 'run akin reindex with the folder.' }];
    instead = (what) => {
      if (!what.includes('/joined/reindex')) return undefined;
      const nth = asked.filter((one) => one.includes('/joined/reindex')).length;
      if (nth === 1) return { status: 409, body: { error: { msg: 'joined is being reindexed already.' } } };
      if (nth === 2 || nth === 3) return { status: 200, body: { ...status, state: 'failed', alive: false, missing } };
      return undefined;
    };
    const { code, out, err } = await reindex('joined');
    expect([code, out]).toEqual([0, expect.not.stringContaining('with the folder')]);
    expect(err).toContain('joined is being reindexed already. This command watches it');
    expect(await likeFirst(collection)).toEqual([{ id: '1.jpg', title: 'one' }]);
  });

  it('says which key it needs', async () => {
    await shelf('limited');
    instead = (what) =>
      what.startsWith('PUT') ? { status: 403, body: { error: { msg: 'This key is only for limited.' } } } : undefined;
    const { code, err } = await reindex('limited');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/only for limited\. .* use a key with the scope admin for all collections/),
    ]);
  });

  it('says how a collection is named', async () => {
    const { code, err } = await runInTurn(['reindex', 'my-collection', '--url', akin.url]);
    expect([code, err]).toEqual([1, expect.stringMatching(/my-collection: .*Give the collection with --collection/)]);
  });
});
