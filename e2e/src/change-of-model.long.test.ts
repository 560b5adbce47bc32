import { once } from 'node:events';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Collection, Reindex } from '@akin/client';
import { type TestDatabase, TINY_TOWERS } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { akinDatabase, refusal, runInTurn, type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';

const COLORS = { red: '#e01010', green: '#10d020', blue: '#1020e0', yellow: '#f0e010', black: '#080808' };
const WORD = 'tiny-siglip';

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let akin: ServingAkin;
const pictures = new Map<string, Buffer>();
const inPlace = (...names: string[]) => path.join(place.folder, ...names);

/** Serves pictures, but only after the gate is open. */
let server: Server;
let gate = { isOpen: true, held: [] as (() => void)[] };
function sendPicture(name: string, response: ServerResponse): void {
  const bytes = pictures.get(name);
  response.writeHead(bytes ? 200 : 404).end(bytes);
}
function openGate(): void {
  gate.isOpen = true;
  for (const go of gate.held.splice(0)) go();
}

beforeAll(async () => {
  [place, database] = await Promise.all([temporaryFolder(), akinDatabase()]);
  await mkdir(inPlace('pictures'));
  await cp(TINY_TOWERS, inPlace('models', WORD), { recursive: true });
  for (const [name, background] of Object.entries(COLORS)) {
    const bytes = await sharp({ create: { width: 90, height: 60, channels: 3, background } })
      .jpeg()
      .toBuffer();
    pictures.set(`${name}.jpg`, bytes);
    await writeFile(inPlace('pictures', `${name}.jpg`), bytes);
  }
  server = createServer(({ url = '' }, response) => {
    const go = () => sendPicture(url.slice(1), response);
    if (gate.isOpen) go();
    else gate.held.push(go);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  akin = await serve(inPlace('pictures'));
  await akin.command.waitForOutput(/Three requests to paste/);
});
afterAll(async () => {
  await akin?.command.stop();
  server?.closeAllConnections();
  server?.close();
  await database?.drop();
  await place?.remove();
});

const serve = (...args: string[]) =>
  serveAkin([
    ...['--no-demo', '--data', inPlace('data'), '--database-url', database.url],
    ...['--models', inPlace('models'), ...args],
  ]);
const modelOf = async (collection: Collection) => (await collection.status()).model;
const byWord = async (collection: Collection, word: string) =>
  (await collection.image({ 'rank.by.text': word, rows: 1, fl: 'id' })).response.docs[0]?.id;

async function until(collection: Collection, condition: (status: Reindex) => boolean): Promise<Reindex> {
  for (;;) {
    const status = await collection.reindexStatus();
    if (condition(status)) return status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A collection of akin's own network, with pictures at URLs. */
async function shop(name: string): Promise<Collection> {
  const { port } = server.address() as AddressInfo;
  const collection = akin.client.collection(name);
  await collection.create();
  const documents = Object.keys(COLORS).map((id) => ({
    id,
    image: `http://127.0.0.1:${port}/${id}.jpg`,
    labels: [id.length > 4 ? '<long>' : 'short'],
  }));
  await collection.add(documents, { commit: true, waitAnalysis: true });
  return collection;
}

describe('the content model of a collection', () => {
  it('is chosen at its creation, in a process with another model', async () => {
    const towers = akin.client.collection('towers');
    await towers.create({ model: WORD });
    expect(await modelOf(towers)).toMatchObject({ name: WORD, words: true });
    const { outputs } = await towers.analyze({ data: pictures.get('red.jpg')?.toString('base64') ?? '' });
    await towers.add([{ id: 'red', import: outputs }], { commit: true });
    expect(await byWord(towers, 'red')).toBe('red');
    for (const model of ['nothing-here', '../models/tiny-siglip', 'siglip-base-patch16-224']) {
      expect(await refusal(akin.client.collection('other').create({ model }))).toEqual([
        400,
        expect.stringContaining(`Available models: akin, ${WORD}`),
      ]);
    }
  });

  it('is changed to a named model, from the files of a folder, and then finds words', async () => {
    const collection = akin.client.collection('my-collection');
    expect(await refusal(byWord(collection, 'red'))).toEqual([
      400,
      expect.stringMatching(/model akin-\S+ cannot find pictures by words.*akin reindex --content-model/s),
    ]);
    const args = ['reindex', '--url', akin.url, '--models', inPlace('models'), '--content-model', WORD];
    const { code, out } = await runInTurn(args);
    expect([code, out]).toEqual([0, expect.stringContaining('5 documents copied, 5 pictures analyzed again, in')]);
    for (const color of Object.keys(COLORS)) expect(await byWord(collection, color)).toBe(`${color}.jpg`);
    const { docs } = (await collection.duplicate({ 'rank.by.id': 'red.jpg', rows: 1, fl: 'id,score' })).response;
    expect(docs).toEqual([{ id: 'red.jpg', score: 1 }]);
    expect(await collection.reindexStatus()).toMatchObject({ state: 'done', model: WORD, thumbnails: 0 });
  });

  it('is the old one until the swap; a killed akin continues, and uses the thumbnail of a lost picture', async () => {
    let collection = await shop('killed');
    pictures.delete('green.jpg');
    gate = { isOpen: false, held: [] };
    await collection.reindex({ model: WORD });
    const before = await until(collection, ({ copied, analyzed }) => copied === 5 && analyzed === 5);
    expect(before).toMatchObject({ model: WORD, alive: true, pending: 5 });
    expect(await modelOf(collection)).toMatchObject({ name: expect.stringMatching(/^akin/), words: false });
    expect((await refusal(collection.reindex({ model: WORD })))[0]).toBe(409);
    await collection.add([{ id: 'new', title: 'accepted meanwhile' }], { commit: true });
    await collection.deleteByIds(['black'], { commit: true });

    await akin.command.stop('SIGKILL');
    openGate();
    akin = await serve();
    collection = akin.client.collection('killed');
    const after = await until(collection, ({ state }) => state === 'done' || state === 'failed');
    expect(after).toMatchObject({ state: 'done', thumbnails: 1, missing: [], pending: 0 });
    expect(await modelOf(collection)).toMatchObject({ name: WORD, words: true });
    const ids = (await collection.select({ fl: 'id', sort: 'id asc' })).response.docs.map(({ id }) => id);
    expect(ids).toEqual(['blue', 'green', 'new', 'red', 'yellow']);
    for (const color of ['green', 'red']) expect(await byWord(collection, color)).toBe(color);
  });

  it('is changed with a pause', async () => {
    pictures.set('green.jpg', pictures.get('red.jpg') as Buffer);
    const collection = await shop('paused');
    gate = { isOpen: false, held: [] };
    await collection.reindex({ model: WORD });
    await until(collection, ({ pending }) => pending === 5);
    const paused = await runInTurn(['reindex', '--pause', '--url', akin.url, '--collection', 'paused']);
    expect([paused.code, paused.out]).toEqual([0, expect.stringContaining('is paused')]);
    expect(await refusal(collection.reindex({ model: WORD }))).toEqual([
      409,
      expect.stringContaining('is paused: resume'),
    ]);
    expect(await modelOf(collection)).toMatchObject({ words: false });
    openGate();
    const resumed = await runInTurn(['reindex', '--resume', '--url', akin.url, '--collection', 'paused']);
    expect([resumed.code, resumed.out]).toEqual([
      0,
      expect.stringContaining('paused is reindexed: 5 documents copied'),
    ]);
    expect(await byWord(collection, 'blue')).toBe('blue');
    expect((await refusal(collection.resumeReindex()))[0]).toBe(409);
    expect((await refusal(collection.pauseReindex()))[0]).toBe(409);
  });

  it('is compared with another one by a report', async () => {
    const page = inPlace('report.html');
    const args = ['report', 'paused', '--url', akin.url, '--labels', 'labels', '-o', page];
    const { code, out } = await runInTurn([...args, '--compare', 'killed']);
    expect([code, out]).toEqual([0, expect.stringContaining(page)]);
    const [paused, killed] = JSON.parse(await readFile(inPlace('report.json'), 'utf8'));
    expect(paused).toMatchObject({ documents: 5, sampled: 5, withoutDescriptor: 0, recallAt10: 1 });
    expect(paused.model).toMatch(/^tiny-siglip:/);
    // Black was deleted there, and what is new has no picture.
    expect(killed).toMatchObject({ documents: 5, sampled: 4, withoutDescriptor: 0.2 });
    expect(Object.keys(paused.labels.byLabel)).toEqual(['<long>', 'short']);
    const { map, precisionAt1, documents } = paused.labels.all;
    expect(documents).toBe(5);
    for (const value of [map, precisionAt1, ...paused.nearestScores]) expect(value >= 0 && value <= 1).toBe(true);
    // The red picture is also used for green: a pair of near-duplicates.
    expect(paused.nearDuplicates).toBe(0.4);
    const html = await readFile(page, 'utf8');
    expect(html).toContain('&#60;long&#62;');
    expect(html).toContain(`${akin.url}/api/cores/paused/thumbnail?id=red`);
    expect(html).not.toContain('<long>');
    const missing = await runInTurn([...args, '--compare', 'nowhere']);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('no collection')]);
  });
});
