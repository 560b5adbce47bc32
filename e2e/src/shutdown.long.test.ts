import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Collection } from '@akin/client';
import { drawImage, type TestDatabase, type TestRedis, testDatabase, testRedis } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveAkin, temporaryFolder, until } from './akin.ts';
import { retryRequest } from './chaos.ts';
import { type FleetProcess, type Pictures, servePictures, startFleet } from './fleet.ts';

/** The time of a picture that no process may wait for: longer than a test may take. */
const SLOW_SECONDS = 3_600;
const ACCEPTED = 3_000;

/** A change whose body never ends. @returns the status of its response; 0 if the connection is closed */
function endlessUpdate(url: string): Promise<number> {
  const request = httpRequest(`${url}/api/cores/my-collection/update`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  const ended = new Promise<number>((resolve) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', () => resolve(0));
    request.on('close', () => resolve(0));
  });
  request.write('[{"id":"never"}');
  for (let i = 0; i < 1_000; i++) request.write(`,{"id":"never${i}"}`);
  const feeding = setInterval(() => request.write(',{"id":"more"}'), 100);
  ended.then(() => clearInterval(feeding));
  return ended;
}

/** Listens to changes. `heard` resolves when the server ends that. */
async function listen(url: string): Promise<{ heard: Promise<string> }> {
  const response = await fetch(`${url}/api/cores/my-collection/operations/stream`);
  expect(response.status).toBe(200);
  return { heard: text(response.body as never).catch(() => 'broken off') };
}

async function countOf(collection: Collection, q: string): Promise<number> {
  return (await collection.select({ q, rows: 0 })).response.numFound;
}

const documents = (name: string) => Array.from({ length: ACCEPTED }, (_, i) => ({ id: `${name}${i}`, n: i }));

describe('the end of a process of a fleet under load', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let pictures: Pictures;
  let gateway: FleetProcess;
  let indexer: FleetProcess;
  let analyzer: FleetProcess;
  let all: readonly FleetProcess[];
  const collection = () => gateway.client.collection('my-collection');

  beforeAll(async () => {
    database = await testDatabase();
    redis = await testRedis();
    pictures = await servePictures(await drawImage({ width: 320, height: 240 }));
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, AKIN_REDIS_PREFIX: redis.prefix };
    ({ gateway, indexer, analyzer, all } = await startFleet(env));
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
  });
  afterAll(async () => {
    for (const one of all ?? []) await one.kill();
    pictures?.close();
    await redis?.drop();
    await database?.drop();
  });

  it('of a gateway aborts a change that does not end, keeps nothing of it, and ends streams', async () => {
    const { heard } = await listen(gateway.url);
    const update = endlessUpdate(gateway.url);
    await collection().add([{ id: 'before' }], { commit: true });
    expect(await gateway.stop()).toBe(0);
    // A response, if its client still reads.
    expect([0, 503]).toContain(await update);
    expect(await heard).toMatch(/^retry: /);
    await gateway.start();
    await until('it is ready', () => gateway.isReady());
    await collection().commit();
    expect(await countOf(collection(), '*:*')).toBe(1);
  });

  it('of an indexer leaves its commit to the next one, which publishes everything once', async () => {
    await collection().add(documents('commit'), { async: true });
    // A gateway waits for a commit half a minute.
    const commit = retryRequest(() => collection().commit());
    expect(await indexer.stop()).toBe(0);
    await indexer.start();
    await commit;
    expect(await countOf(collection(), 'id:commit*')).toBe(ACCEPTED);
    expect(await collection().status()).toMatchObject({ pending: 0, failed: 0 });
  });

  it('of an analyzer returns jobs that it did not begin, and uses up no attempt', async () => {
    const slow = Array.from({ length: 40 }, (_, i) => ({
      id: `slow${i}`,
      image: `${pictures.url}/${i}?seconds=${SLOW_SECONDS}`,
    }));
    await collection().add(slow, { async: true });
    await until('it fetches', async () => pictures.waiting() >= 6);
    expect(await analyzer.stop()).toBe(0);
    pictures.slow(-SLOW_SECONDS);
    await analyzer.start();
    await until('all are there', async () => {
      await collection().commit();
      return (await countOf(collection(), 'id:slow*')) === 40;
    });
    expect((await collection().status()).failed).toBe(0);
  });
});

describe('the end of akin serve under load', () => {
  it('is in time and keeps what was accepted, and the next one waits for it at the same port', async () => {
    const data = await temporaryFolder();
    const pictures = await servePictures(await drawImage({ width: 320, height: 240 }));
    try {
      const start = (...more: string[]) => serveAkin(['--no-demo', '--data', data.folder, ...more]);
      // Keeps its port and database that long, so that the next start must wait.
      const first = await start('--shutdown-delay', '5');
      const collection = first.client.collection('my-collection');
      const { heard } = await listen(first.url);
      const update = endlessUpdate(first.url);
      await collection.add(documents('plain'), { async: true });
      const slow = Array.from({ length: 40 }, (_, i) => ({
        id: `slow${i}`,
        image: `${pictures.url}/${i}?seconds=${SLOW_SECONDS}`,
      }));
      await collection.add(slow, { async: true });
      await until('it fetches', async () => pictures.waiting() >= 6);
      // Nobody waits for its response.
      collection.commit().catch(() => {});
      const ended = first.command.stop();
      pictures.slow(-SLOW_SECONDS);
      // It may have ended already.
      const told = () => readFile(path.join(data.folder, 'server.json'), 'utf8').catch(() => 'stopping');
      await until('it is stopping', async () => (await told()).includes('stopping'));
      const second = await start('--port', new URL(first.url).port);
      expect(await ended).toMatchObject({ code: 0 });
      expect([0, 503]).toContain(await update);
      expect(await heard).toMatch(/^retry: /);

      const again = second.client.collection('my-collection');
      await until('all are there', async () => {
        await again.commit();
        return (await countOf(again, '*:*')) === ACCEPTED + 40;
      });
      expect(await again.status()).toMatchObject({ failed: 0 });
      await second.command.stop();
    } finally {
      pictures.close();
      await data.remove();
    }
  });
});
