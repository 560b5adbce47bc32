import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@akin/runtime/observability';
import { createServices, openProxy, scaledByChaos, type TestRedis, testRedis } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue as BullQueue } from 'bullmq';
import { Redis } from 'ioredis';
import { brokenServer } from '../test/broken-server.ts';
import { queueContract } from '../test/queue-contract.ts';
import { createRedisQueue } from './index.ts';

let redis: TestRedis;
let opened = 0;
const nextPrefix = () => `${redis.prefix}-${opened++}`;

beforeAll(async () => {
  redis = await testRedis();
});
afterAll(() => redis.drop());

queueContract('on Redis', () => createRedisQueue({ url: redis.url, prefix: nextPrefix() }));

const PAYLOAD = { collection: 1, request: '1', position: 0, attempt: 1, image: 'http://images.example/a.jpg' };

describe('a queue on Redis', () => {
  it('shares jobs with other processes of its prefix, which it names, and with no others', async () => {
    const prefix = nextPrefix();
    await using adding = await createRedisQueue({ url: redis.url, prefix });
    const name = 'akin analyzer 1.0.0 7 host';
    await using working = await createRedisQueue({ url: redis.url, prefix, name });
    await using foreign = await createRedisQueue({ url: redis.url, prefix: nextPrefix() });
    foreign.work('analyze', () => Promise.reject(new Error('not mine')), { concurrency: 1 });
    const handled = new Promise((resolve) => {
      working.work('analyze', async ({ id }) => resolve(id), { concurrency: 1 });
    });
    await adding.add('analyze', PAYLOAD, { id: 'a' });
    expect(await handled).toBe('a');
    expect(await adding.workers('analyze')).toMatchObject([
      { name, address: expect.stringMatching(/^(127\.|::1|::ffff)/) },
    ]);
  });

  it('shares jobs only between processes with the same contract', async () => {
    const prefix = nextPrefix();
    await using adding = await createRedisQueue({ url: redis.url, prefix, contract: 'content=akin-4' });
    await using other = await createRedisQueue({ url: redis.url, prefix, contract: 'content=akin-1' });
    await using same = await createRedisQueue({ url: redis.url, prefix, contract: 'content=akin-4' });
    other.work('analyze', () => Promise.reject(new Error('another model')), { concurrency: 1 });
    await adding.add('analyze', PAYLOAD, { id: 'a' });
    expect(await other.liveJobs('analyze', ['a'])).toEqual(new Set());
    expect(await other.announcedContracts()).toEqual([]);
    await adding.announce();
    expect(await other.announcedContracts()).toEqual(['content=akin-4']);
    const handled = new Promise((resolve) => {
      same.work('analyze', async ({ id }) => resolve(id), { concurrency: 1 });
    });
    expect(await handled).toBe('a');
  });

  it('refuses a Redis that evicts keys', async () => {
    await using services = createServices({});
    const url = await services.redis();
    const admin = new Redis(url);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await admin.quit();
    await expect(createRedisQueue({ url })).rejects.toThrow('allkeys-lru');
  });

  it('says where no Redis answers, without a password', async () => {
    const proxy = await openProxy(redis.url);
    await proxy.cut();
    const url = proxy.url.replace('redis://', 'redis://:secret@');
    await expect(createRedisQueue({ url })).rejects.toThrow(
      `Redis at ${new URL(proxy.url).host} does not answer: start it, or name another one`,
    );
  });

  it.each([
    ['redis://:wrong@', 'WRONGPASS invalid username-password pair'],
    ['redis://', 'NOAUTH '],
  ])('says why Redis refuses %s', async (start, reason) => {
    await using services = createServices({});
    const url = await services.redis();
    const admin = new Redis(url);
    await admin.config('SET', 'requirepass', 'secret');
    await admin.quit();
    const refused = await createRedisQueue({ url: url.replace('redis://', start) }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: 'QueueUnavailableError',
      message: expect.stringContaining(`Redis at ${new URL(url).host} refuses the connection: ${reason}`),
    });
    await using queue = await createRedisQueue({ url: url.replace('redis://', 'redis://:secret@') });
    expect(await queue.liveJobs('analyze', [])).toEqual(new Set());
  });

  it('logs no password when Redis refuses it after a change', async () => {
    await using services = createServices({});
    const url = await services.redis();
    const admin = new Redis(url);
    await admin.config('SET', 'requirepass', 'secret');
    const lines: string[] = [];
    const log = createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } });
    await using _queue = await createRedisQueue({ url: url.replace('redis://', 'redis://:secret@'), log });
    await admin.config('SET', 'requirepass', 'another');
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    while (!lines.some((line) => line.includes('WRONGPASS'))) await delay(5);
    expect(lines.join('')).not.toContain('secret');
    await admin.quit();
  });

  it('fails a job that does not fit the catalogue without trying it again', async () => {
    const prefix = nextPrefix();
    const foreign = new BullQueue('analyze', { connection: { url: redis.url }, prefix });
    await foreign.add('analyze', { ...PAYLOAD, position: 'first' }, { jobId: 'odd', attempts: 3 });
    await foreign.close();
    let onWarning = (_fields: object) => {};
    const dropped = new Promise<object>((resolve) => {
      onWarning = resolve;
    });
    const log = { warn: (fields: object) => onWarning(fields) };
    await using queue = await createRedisQueue({ url: redis.url, prefix, log });
    queue.work('analyze', () => Promise.reject(new Error('must not run')), { concurrency: 1 });
    expect(await dropped).toMatchObject({ id: 'odd', err: { message: expect.stringContaining('position') } });
    expect(await queue.counts('analyze')).toMatchObject({ delayed: 0, failed: 1 });
  });
});

it('says of a job that it crashed the processes that took it', async () => {
  const prefix = nextPrefix();
  await using queue = await createRedisQueue({ url: redis.url, prefix });
  await queue.add('analyze', PAYLOAD, { id: 'poison' });
  const admin = new Redis(redis.url);
  // BullMQ does so when the job has stalled too often, which would take minutes.
  await admin.hset(`${prefix}:analyze:poison`, 'defa', 'job stalled more than allowable limit');
  const failure = await new Promise((resolve) => {
    queue.work('analyze', () => Promise.reject(new Error('must not run')), {
      concurrency: 1,
      onFailed: ({ id }, _, crashed) => resolve([id, crashed]),
    });
  });
  expect(failure).toEqual(['poison', true]);
  await admin.quit();
});

it('keeps few failed jobs with results, because they are large', async () => {
  const prefix = nextPrefix();
  await using queue = await createRedisQueue({ url: redis.url, prefix });
  const admin = new Redis(redis.url);
  const { image: _, ...ref } = PAYLOAD;
  for (let i = 0; i < 60; i++) {
    await queue.add('analyzed', { ...ref, result: { outputs: '{}' } }, { id: `a${i}` });
    // Ten attempts would take minutes.
    await admin.hset(`${prefix}:analyzed:a${i}`, 'defa', 'job stalled more than allowable limit');
  }
  let failed = 0;
  queue.work('analyzed', () => Promise.reject(new Error('must not run')), { concurrency: 1, onFailed: () => failed++ });
  while (failed < 60) await delay(5);
  expect(await queue.counts('analyzed')).toMatchObject({ waiting: 0, failed: 50 });
  await admin.quit();
});

it('closes soon after Redis is back, although one connection still waits to reconnect', async () => {
  const breakOnce = async (away: number) => {
    await using proxy = await openProxy(redis.url);
    await using queue = await createRedisQueue({ url: proxy.url, prefix: nextPrefix() });
    const handled: string[] = [];
    queue.work('analyze', async ({ id }) => void handled.push(id), { concurrency: 1 });
    for (const id of ['before', 'after']) {
      while (!(await isDone(queue.add('analyze', PAYLOAD, { id })))) await delay(5);
      while (!handled.includes(id)) await delay(1);
      if (id === 'after') return;
      // Break the connection before the worker waits for the next job on it.
      await proxy.cut();
      await delay(away);
      await proxy.mend();
    }
  };
  // Only chance decides whether a connection breaks in this state: one of 32 does.
  await Promise.all(Array.from({ length: scaledByChaos(32) }, (_, i) => breakOnce(100 + 5 * i)));
});

it('opens new connections when the old ones hang, as after the loss of its machine', async () => {
  await using proxy = await openProxy(redis.url);
  await using queue = await createRedisQueue({ url: proxy.url, prefix: nextPrefix() });
  const handled: string[] = [];
  queue.work('analyze', async ({ id }) => void handled.push(id), { concurrency: 1 });
  for (const id of ['before', 'after']) {
    while (!(await isDone(queue.add('analyze', PAYLOAD, { id })))) await delay(5);
    while (!handled.includes(id)) await delay(5);
    if (id === 'after') return;
    proxy.stall();
    await proxy.mend();
  }
});

it('moves to the new primary when its Redis becomes a replica', async () => {
  await using services = createServices({});
  await using others = createServices({});
  const [url, primary] = [await services.redis(), new URL(await others.redis())];
  const admin = new Redis(url);
  await using proxy = await openProxy(url);
  await using queue = await createRedisQueue({ url: proxy.url });
  const handled: string[] = [];
  queue.work('analyze', async ({ id }) => void handled.push(id), { concurrency: 1 });
  await queue.add('analyze', PAYLOAD, { id: 'before' });
  while (!handled.includes('before')) await delay(5);
  proxy.pointTo(primary.href);
  await admin.replicaof(primary.hostname, Number(primary.port));
  while (!(await isDone(queue.add('analyze', PAYLOAD, { id: 'after' })))) await delay(5);
  while (!handled.includes('after')) await delay(5);
  await admin.quit();
});

it('asks for jobs slowly while the memory of Redis is full, and works on afterwards', async () => {
  await using services = createServices({});
  const url = await services.redis();
  const admin = new Redis(url);
  await using queue = await createRedisQueue({ url });
  await queue.add('analyze', PAYLOAD, { id: 'a' });
  await admin.config('SET', 'maxmemory', '1');
  const handled: string[] = [];
  queue.work('analyze', async ({ id }) => void handled.push(id), { concurrency: 1 });
  const refused = async () => Number(/errorstat_OOM:count=(\d+)/.exec(await admin.info('errorstats'))?.[1] ?? 0);
  while ((await refused()) === 0) await delay(5);
  const before = await refused();
  // A worker that does not wait asks about as often as this test.
  for (let i = 0; i < 1_000; i++) await admin.ping();
  expect((await refused()) - before).toBeLessThan(100);
  await admin.config('SET', 'maxmemory', '0');
  while (!handled.includes('a')) await delay(5);
  await admin.quit();
});

brokenServer(
  'Redis',
  () => redis.url,
  (url, log) => createRedisQueue({ url, prefix: nextPrefix(), ...log }),
);

function isDone(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
