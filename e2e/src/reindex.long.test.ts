import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Collection } from '@akin/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type OwnAkin, runInTurn, serveOnPostgres, until } from './akin.ts';
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
  // As long as akin: the command may pause between two changes, and does not repeat one whose connection closes.
  proxy.keepAliveTimeout = 65_000;
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
  it('reports success before it warns of a collection that it could not remove, and removes it the next time, and no other', async () => {
    const collection = await shelf('shop');
    const foreign = [await shelf('shop.pictures'), await shelf('shop.pictures-00000000')];
    const { temporary, err } = await reindexWithoutDrop('shop');
    expect(err).toContain(
      `${temporary}, the temporary collection of this reindex, could not be removed (Refused 2 times.)`,
    );
    expect(await likeFirst(collection)).toEqual([{ id: '1.jpg', title: 'one' }]);
    // As a run with other models leaves it.
    const { schema } = await akin.client.collection(temporary).schema();
    const marker = schema.fields.find(({ name }) => name.endsWith('shop'))?.name ?? '';
    const older = akin.client.collection('shop.pictures-11111111');
    await older.create();
    await older.defineFields({ [marker]: 'string' });
    const { code, out } = await reindex('shop');
    expect([code, out]).toEqual([0, expect.stringContaining('0 indexed, 2 unchanged')]);
    expect(await names('shop')).toEqual(['shop', 'shop.pictures', 'shop.pictures-00000000']);
    // A collection of somebody else with the name of the temporary one.
    foreign.push(await shelf(temporary));
    const refused = await reindex('shop');
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining(`${temporary} exists, but akin reindex did not create it`),
    ]);
    for (const one of foreign) expect((await one.status()).documents).toBe(3);
  });

  it('distinguishes collections whose long names have the same beginning', async () => {
    const long = 'n'.repeat(95);
    for (const end of [1, 2]) await shelf(`${long}${end}`);
    const { temporary } = await reindexWithoutDrop(`${long}1`);
    expect((await reindex(`${long}2`)).code).toBe(0);
    expect(await names(beginningFor(long))).toEqual([temporary]);
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

describe('akin reindex', () => {
  const reindexAlone = (name: string, ...args: string[]) =>
    runInTurn(['reindex', '--url', akin.url, '--collection', name, ...args]);

  it('reindexes a collection while it changes, and loses no change', async () => {
    const collection = akin.client.collection('moving');
    await collection.create();
    const documents = Array.from({ length: 300 }, (_, i) => ({ id: `document ${i}`, place: i, note: 'first' }));
    await collection.add(documents, { commit: true });
    const { responseHeader } = await collection.add([{ id: 'before', place: 1 }]);

    const done = new AbortController();
    let changes = 0;
    const changing = (async () => {
      while (!done.signal.aborted) {
        const number = changes;
        try {
          await collection.add([{ id: `document ${number}`, place: -number, note: 'later' }, { id: `new ${number}` }]);
          changes++;
        } catch (error) {
          // Asked to send it again.
          expect(error).toMatchObject({ status: 503, retryAfterSeconds: expect.any(Number) });
        }
      }
    })();
    const { code, out } = await reindexAlone('moving', '--field', 'place:double');
    expect([code, out]).toEqual([0, expect.stringMatching(/^moving is reindexed: \d+ documents copied/)]);
    await until('there are changes behind it', async () => changes > 20);
    done.abort();
    await changing;

    await collection.commit({ waitAnalysis: true });
    const { schema } = await collection.schema();
    expect(schema.fields.find(({ name }) => name === 'place')?.type).toBe('double');
    const found = (q: string) => collection.select({ q, rows: 0 }).then(({ response }) => response.numFound);
    expect(await found('note:later')).toBe(changes);
    expect(await found('id:new*')).toBe(changes);
    expect((await collection.status()).documents).toBe(301 + changes);
    // Tokens from before still work.
    const after = await collection.select({ q: 'id:before', after: responseHeader.token ?? '' });
    expect(after.response.numFound).toBe(1);
    const names = (await akin.client.collections()).collections.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('moving'))).toEqual(['moving']);
  });

  it('does not change the collection if a value does not fit', async () => {
    const collection = akin.client.collection('unfit');
    await collection.create();
    await collection.add([{ id: 'a', note: 'words' }, { id: 'b' }], { commit: true });
    const { code, out } = await reindexAlone('unfit', '--field', 'note:long');
    expect([code, out]).toEqual([2, expect.stringMatching(/cannot be copied.*--allow-missing.*a: .*words/s)]);
    expect((await collection.status()).documents).toBe(2);
    expect(await collection.reindexStatus()).toMatchObject({ state: 'failed', alive: false });
  });
});
