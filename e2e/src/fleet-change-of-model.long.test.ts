import { once } from 'node:events';
import { cp, mkdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { AkinRequestError } from '@akin/client';
import {
  pauseClient,
  randomNumbers,
  type TestDatabase,
  type TestRedis,
  TINY_TOWERS,
  testDatabase,
  testRedis,
} from '@akin/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { temporaryFolder, until } from './akin.ts';
import { ChaosClient, watchTogether } from './chaos.ts';
import { FleetProcess } from './fleet.ts';

const COLORS = { red: '#e01010', green: '#10d020', blue: '#1020e0', yellow: '#f0e010' };
const WORD = 'tiny-siglip';
const WRITERS = ['ann', 'bob'];
/** Documents that do not change, so that searches in them have one result for each model. */
const KEPT = Object.keys(COLORS).flatMap((color) => [`${color}-1`, `${color}-2`]);

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let database: TestDatabase;
let redis: TestRedis;
let gateway: FleetProcess;
let indexer: FleetProcess;
/** Has only the old model. */
let analyzer: FleetProcess;
/** Gets the new one. */
let newAnalyzer: FleetProcess;
const inPlace = (...names: string[]) => path.join(place.folder, ...names);
const all = () => [gateway, indexer, analyzer, newAnalyzer].filter((one) => one !== undefined);
const collection = () => gateway.client.collection('my-collection');

/** Pictures of a colour, named by the last part of the URL. Those of kept documents are sent after the gate is open. */
let server: Server;
let pictures: string;
const gate = { isOpen: true, held: [] as (() => void)[] };
function openGate(): void {
  gate.isOpen = true;
  for (const go of gate.held.splice(0)) go();
}

beforeAll(async () => {
  place = await temporaryFolder();
  database = await testDatabase();
  redis = await testRedis();
  const bytes = new Map<string, Buffer>();
  for (const [name, background] of Object.entries(COLORS)) {
    bytes.set(
      name,
      await sharp({ create: { width: 90, height: 60, channels: 3, background } })
        .jpeg()
        .toBuffer(),
    );
  }
  server = createServer(({ url = '' }, response) => {
    const go = () => response.end(bytes.get(url.split('/').at(-1) ?? '') ?? bytes.get('red'));
    if (gate.isOpen || !url.startsWith('/kept')) go();
    else gate.held.push(go);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  pictures = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, AKIN_REDIS_PREFIX: redis.prefix, AKIN_THREADS: '1' };
  await cp(TINY_TOWERS, inPlace('models', WORD), { recursive: true });
  for (const name of ['old', 'new']) await mkdir(inPlace(name));
  const [old, next] = ['old', 'new'].map(
    (name) => new FleetProcess('analyzer', { ...env, AKIN_MODELS: inPlace(name), AKIN_ALLOW_LOOPBACK_IMAGES: '1' }),
  ) as [FleetProcess, FleetProcess];
  [analyzer, newAnalyzer] = [old, next];
  for (const one of [analyzer, newAnalyzer]) await one.choosePort();
  const models = { ...env, AKIN_MODELS: inPlace('models') };
  indexer = new FleetProcess('indexer', { ...models, AKIN_AUTO_COMMIT: '300' });
  gateway = new FleetProcess('gateway', { ...models, ANALYZE_URL: `${analyzer.url},${newAnalyzer.url}` });
  await Promise.all(all().map((one) => one.start()));
  for (const one of all()) await until(`${one.name} is ready`, () => one.isReady());
});
afterAll(async () => {
  for (const one of all()) await one.kill();
  server?.closeAllConnections();
  server?.close();
  await redis?.drop();
  await database?.drop();
  await place?.remove();
});

async function restart(one: FleetProcess): Promise<void> {
  await one.kill();
  await one.start();
  await until(`${one.name} is ready`, () => one.isReady());
}

/** The queries for the kept documents: one of them, or a picture that has to be analyzed. */
const QUERIES = [{ 'rank.by.id': 'red-1' }, { 'rank.by.url': '/query/green' }] as const;

/** One search in so many analyzes a picture. More would take the processor time that the fleet needs. */
const ANALYZED_EVERY = 5;

/** @returns ids and scores of the kept documents */
async function resultOf(query: (typeof QUERIES)[number]): Promise<string> {
  const by = 'rank.by.url' in query ? { 'rank.by.url': pictures + query['rank.by.url'] } : query;
  const parameters = { ...by, fq: 'kind:kept', rows: KEPT.length, fl: 'id,score' };
  const { numFound, docs } = (await collection().image(parameters)).response;
  expect([numFound, docs.length]).toEqual([KEPT.length, KEPT.length]);
  return JSON.stringify(docs);
}
const results = () => Promise.all(QUERIES.map(resultOf));

/** Searches until it is stopped, and once more. @returns the results of each query, without repeats, and failures */
async function searchOn(stop: AbortSignal): Promise<{ seen: string[][]; failures: string[] }> {
  const seen = QUERIES.map((): string[] => []);
  const failures: string[] = [];
  for (let round = 0, isLast = false; !isLast; round++) {
    isLast = stop.aborted;
    for (const [i, query] of QUERIES.entries()) {
      if ('rank.by.url' in query && round % ANALYZED_EVERY > 0 && !isLast) continue;
      try {
        const now = await resultOf(query);
        if (now !== seen[i]?.at(-1)) seen[i]?.push(now);
      } catch (error) {
        failures.push((error as Error).message);
      }
    }
    await pauseClient(100);
  }
  return { seen, failures };
}

it('a running fleet changes the model of a collection under load while its parts are killed, and loses nothing', async () => {
  const kept = KEPT.map((id) => ({ id, kind: 'kept', version: 1, image: `${pictures}/kept/${id.split('-')[0]}` }));
  await collection().add(kept, { commit: true, waitAnalysis: true });
  const byOld = await results();

  // No process can use the new model yet.
  const refused = await collection()
    .reindex({ model: WORD })
    .catch((error: AkinRequestError) => error);
  expect(refused).toMatchObject({
    status: 409,
    message: expect.stringMatching(/No analyzer can use.*tiny-siglip.*akin models pull/),
  });
  await cp(TINY_TOWERS, inPlace('new', WORD), { recursive: true });
  await restart(newAnalyzer);

  const stop = new AbortController();
  const random = randomNumbers(5);
  const colors = Object.keys(COLORS);
  const picture = (name: string) => `${pictures}/${name}/${colors[Math.floor(random() * colors.length)]}`;
  const writers = WRITERS.map((name, i) => new ChaosClient(name, collection(), randomNumbers(50 + i), picture));
  const accepted = () => writers.reduce((sum, writer) => sum + writer.accepted, 0);
  const writing = Promise.all(writers.map((writer) => writer.run(stop.signal)));
  const watching = watchTogether(collection(), WRITERS, stop.signal);
  const searching = searchOn(stop.signal);
  await until('changes were made', async () => accepted() > 10);

  gate.isOpen = false;
  await until('the new model can be used', () =>
    collection()
      .reindex({ model: WORD })
      .then(
        () => true,
        () => false,
      ),
  );
  await until('pictures are analyzed', async () => {
    const { analyzed, state } = await collection().reindexStatus();
    return analyzed >= KEPT.length && state === 'analyzing';
  });
  await restart(newAnalyzer);
  await restart(indexer);
  const before = accepted();
  await until('changes go on', async () => accepted() > before);
  expect((await collection().status()).model).toMatchObject({ words: false });
  expect(await results()).toEqual(byOld);
  // Both are away when the last pictures could be analyzed.
  await Promise.all([indexer.kill(), newAnalyzer.kill()]);
  openGate();
  await Promise.all([indexer.start(), newAnalyzer.start()]);
  const status = await untilReindexed();
  expect(status).toMatchObject({ state: 'done', missing: [] });

  const exchanged = accepted();
  await until('changes go on after the exchange', async () => accepted() > exchanged + 10);
  stop.abort();
  await writing;
  expect(await watching).toEqual([]);
  const { seen, failures } = await searching;
  const byNew = await results();
  // One result of each model, the old one first, and no other.
  expect(seen).toEqual(QUERIES.map((_, i) => [byOld[i], byNew[i]]));
  expect(failures).toEqual([]);

  const expected = new Map([...KEPT.map((id) => [id, 1] as const), ...writers.flatMap(({ model }) => [...model])]);
  await untilSettled();
  const { response } = await collection().select({ rows: 1000, fl: 'id,version' });
  const found = response.docs.map(({ id, version }) => [id, Number(version)] as [string, number]);
  const sorted = (entries: Iterable<readonly [string, number]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  expect(sorted(found)).toEqual(sorted(expected));
  const { documents, model } = await collection().status();
  expect([documents, response.numFound, model]).toEqual([
    expected.size,
    expected.size,
    expect.objectContaining({ name: WORD, words: true }),
  ]);
  const count = async (q: string) => (await collection().select({ q, rows: 0 })).response.numFound;
  expect(await count('image:*')).toBeGreaterThan(KEPT.length);
  expect(await count('content_descriptor:*')).toBe(await count('image:*'));
  const blue = await collection().image({ 'rank.by.text': 'blue', fq: 'kind:kept', rows: 2, fl: 'id' });
  expect(blue.response.docs.map(({ id }) => id)).toEqual(['blue-1', 'blue-2']);
});

async function untilReindexed() {
  for (;;) {
    const status = await collection().reindexStatus();
    if (status.state === 'done' || status.state === 'failed') return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function untilSettled(): Promise<void> {
  for (;;) {
    const status = await collection().status();
    if (status.pending === 0 && status.failed === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
