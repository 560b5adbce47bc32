import { readFile } from 'node:fs/promises';
import {
  type BreakableProxy,
  drawImage,
  openProxy,
  type TestDatabase,
  type TestRedis,
  testDatabase,
  testRedis,
} from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from './akin.ts';
import { FleetProcess, type Pictures, servePictures, startFleet } from './fleet.ts';

describe('akin as several processes', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let postgresProxy: BreakableProxy;
  let redisProxy: BreakableProxy;
  let pictures: Pictures;
  let gateway: FleetProcess;
  let indexer: FleetProcess;
  let analyzer: FleetProcess;
  let all: readonly FleetProcess[];
  const collection = () => gateway.client.collection('my-collection');

  beforeAll(async () => {
    database = await testDatabase();
    redis = await testRedis();
    postgresProxy = await openProxy(database.url);
    redisProxy = await openProxy(redis.url);
    pictures = await servePictures(await drawImage({ width: 320, height: 240 }));
    const env = { DATABASE_URL: postgresProxy.url, REDIS_URL: redisProxy.url, AKIN_REDIS_PREFIX: redis.prefix };
    await postgresProxy.cut();
    await redisProxy.cut();
    ({ gateway, indexer, analyzer, all } = await startFleet(env));
  });
  afterAll(async () => {
    for (const one of all ?? []) await one.kill();
    pictures?.close();
    for (const proxy of [postgresProxy, redisProxy]) await proxy?.[Symbol.asyncDispose]();
    await redis?.drop();
    await database?.drop();
  });

  it('waits for its servers, says why, and continues by itself when they answer', async () => {
    for (const one of all) {
      await until(`${one.name} tells what it waits for`, async () => {
        const { status, retryAfter, body } = await one.get('/health/ready');
        return status === 503 && retryAfter !== null && /Waiting for (the database|Redis)/.test(JSON.stringify(body));
      });
      expect(await one.get('/health/live')).toMatchObject({ status: 200 });
    }
    expect(await gateway.get('/api/cores')).toMatchObject({ status: 503, retryAfter: '2' });
    await postgresProxy.mend();
    await redisProxy.mend();
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
    for (const one of all) expect((await one.get('/metrics')).body).toContain('akin_request_seconds');
    expect(gateway.log).toMatch(/"level":"warn".*"reason":"The database cannot be reached/);
  });

  it('shows a document with a picture after a requested commit, and finds it by picture', async () => {
    const image = `${pictures.url}/a.jpg`;
    await collection().add([{ id: 'a', image }], { commit: true });
    const { response } = await collection().image({ 'rank.by.url': image, fl: 'id,score' });
    expect(response.docs).toEqual([{ id: 'a', score: 1 }]);
  });

  it('lists its processes, also the analyzer that only Redis sees', async () => {
    const roles = async () => (await gateway.client.processes()).processes.map(({ role }) => role);
    await until('an indexer has seen the analyzer', async () => (await roles()).includes('analyzer'));
    expect((await roles()).sort()).toEqual(['analyzer', 'gateway', 'indexer']);
  });

  it('answers changes with 503 and Retry-After while PostgreSQL is away, then continues', async () => {
    await postgresProxy.cut();
    await until('changes are refused', async () => {
      const { status, retryAfter } = await gateway.get('/api/cores/my-collection/update?commit=true');
      return status === 503 && Number(retryAfter) > 0;
    });
    await until('the gateway is not ready', async () => !(await gateway.isReady()));
    await postgresProxy.mend();
    await until('the gateway is ready', () => gateway.isReady());
    await until('a change becomes visible', () =>
      collection()
        .add([{ id: 'b', image: `${pictures.url}/b.jpg` }], { commit: true })
        .then(
          () => true,
          () => false,
        ),
    );
    expect((await collection().select({ q: 'id:b' })).response.numFound).toBe(1);
  });

  it('accepts changes and searches by picture while Redis is away, and analyzes waiting pictures when it is back', async () => {
    await redisProxy.cut();
    await collection().add([{ id: 'c', image: `${pictures.url}/c.jpg` }], { async: true });
    await until('the indexer tells that Redis is away', async () =>
      /Redis/.test(JSON.stringify((await indexer.get('/health/ready')).body)),
    );
    const image = `${pictures.url}/a.jpg`;
    expect((await collection().image({ 'rank.by.url': image })).response.numFound).toBe(2);
    expect((await indexer.get('/metrics')).status).toBe(200);
    await until('the analyzer tells that its queue is away', async () => !(await analyzer.isReady()));
    expect(await analyzer.get('/health/ready?check=http')).toMatchObject({ status: 200 });
    await redisProxy.mend();
    await until('what waited is analyzed', async () => {
      await collection().commit();
      return (await collection().select({ q: 'id:c' })).response.numFound === 1;
    });
  });

  it('exports every metric that the dashboard and the alerts use', async () => {
    await collection().add([{ id: 'none', image: `${pictures.url}/broken` }], { async: true });
    await until('the failure counts', async () => (await collection().status()).failed === 1);
    await collection().setQuota({ maxDocuments: 1_000, maxBytes: 1e9 });
    await collection().select();
    const infra = new URL('../../infra/', import.meta.url);
    const asked = await Promise.all(
      ['grafana/akin.json', 'prometheus/alerts.yaml'].map((file) => readFile(new URL(file, infra), 'utf8')),
    );
    // Each metric with the labels that are used, apart from those of histograms and those that Prometheus adds.
    const added = ['', 'le', 'instance', 'job'];
    // Metrics of standbys exist only with standbys, and that of the disk only with the embedded store: standby.long.test.ts
    // and process-metrics.test.ts check them.
    const isTold = (name: string) => !/^akin_(standby_|disk_free_bytes)/.test(name);
    const labelled = asked.flatMap((text) =>
      [...text.matchAll(/(?:by \(([^)]*)\) \((?:\w+\()?|)(akin_\w+)(?:\{(\w+))?/g)]
        .map(([, by = '', name = '', of]) => ({
          name,
          labels: [...by.split(', '), of ?? ''].filter((label) => !added.includes(label)),
        }))
        .filter(({ name }) => isTold(name)),
    );
    expect(labelled.filter(({ labels }) => labels.length > 0).length).toBeGreaterThan(12);
    const named = asked.join('\n').match(/\b(akin_[a-z]+(_[a-z]+)+|process_\w+|nodejs_\w+)/g) ?? [];
    const names = new Set(named.filter(isTold));
    expect(names.size).toBeGreaterThan(15);
    const areDescribed = async () => {
      const told = (await Promise.all(all.map((one) => one.get('/metrics'))))
        .map(({ body }) => String(body))
        .join('\n');
      // A description may name a histogram as a whole.
      const missing = [...names].filter((name) => !new RegExp(`^${name}(_bucket)?[{ ]`, 'm').test(told));
      const lacking = labelled.filter(
        ({ name, labels }) => !labels.every((label) => new RegExp(`^${name}\\{([^}]*,)?${label}=`, 'm').test(told)),
      );
      return missing.length === 0 && lacking.length === 0;
    };
    await until('all are told', areDescribed);
  });

  it('shuts down in order', async () => {
    for (const one of all) expect(await one.stop()).toBe(0);
  });

  it('analyzes over HTTP without a database and without Redis', async () => {
    const node = new FleetProcess('analyze-node', { AKIN_THREADS: '1', AKIN_ALLOW_LOOPBACK_IMAGES: '1' });
    await node.start();
    const { outputs } = await node.client.collection('any').analyze({ url: `${pictures.url}/a.jpg` });
    expect(Object.keys(JSON.parse(outputs))).toContain('content_descriptor');
    expect(await node.get('/health/ready')).toMatchObject({ status: 200 });
    expect(await node.get('/api/cores')).toMatchObject({ status: 404 });
    expect(await node.stop()).toBe(0);
  });
});
