import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobPayload } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { downloadImage } from '@akin/imaging';
import { type Analyzer, createAnalyzer } from '@akin/modules/analyze';
import type { Queue } from '@akin/queue';
import { createMemoryQueue } from '@akin/queue/memory';
import type { Metrics } from '@akin/runtime';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import { drawImage } from '@akin/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createAnalyzerWorker } from './analyzer-worker.ts';

let analyzer: Analyzer;
let images: Server;
let base: string;
/** Responses that the slow test host holds back. */
const held: (() => void)[] = [];

beforeAll(async () => {
  const picture = await drawImage({ width: 320, height: 240 });
  images = createServer((request, response) => {
    if (request.url === '/picture.jpg') response.end(picture);
    else if (request.url?.startsWith('/slow')) held.push(() => response.end(picture));
    else if (request.url === '/drawing.svg') response.end('<svg xmlns="http://www.w3.org/2000/svg"/>');
    else response.writeHead(request.url === '/busy.jpg' ? 503 : 404).end();
  }).listen(0, '127.0.0.1');
  await once(images, 'listening');
  base = `http://127.0.0.1:${(images.address() as AddressInfo).port}`;
  analyzer = await createAnalyzer({ threads: 1 });
});
afterAll(async () => {
  images.close();
  await analyzer[Symbol.asyncDispose]();
});

describe('the analyzer', () => {
  let queue: Queue;
  let metrics: Metrics;
  let worker: AsyncDisposable;

  beforeEach(() => {
    queue = createMemoryQueue();
    worker = startWorker(analyzer);
  });
  const startWorker = (analyzer: Analyzer, workerQueue: Queue = queue) => {
    metrics = createMetrics();
    return createAnalyzerWorker({
      queue: workerQueue,
      analyzer,
      threads: 1,
      download: async (url, _urgent, signal) => {
        const bytes = await downloadImage(url, {
          policy: { allowLoopback: true, allowPrivate: false },
          // The test decides when a slow host answers; the limit of time must not.
          limits: { downloadMilliseconds: 3_600_000 },
          signal,
        });
        return { bytes, release: () => {} };
      },
      log: createLogger({ name: 'test', level: 'silent' }),
      metrics,
    });
  };
  afterEach(async () => {
    jest.useRealTimers();
    await queue[Symbol.asyncDispose]();
  });

  const REF = { collection: 1, request: '9007199254740993', position: 4, attempt: 2 };

  /** Adds the jobs and returns their results by URL. */
  async function analyze(jobs: Partial<JobPayload<'analyze'>>[]): Promise<Map<number, JobPayload<'analyzed'>>> {
    const replies = new Map<number, JobPayload<'analyzed'>>();
    await new Promise<void>((resolve) => {
      queue.work(
        'analyzed',
        async ({ payload }) => {
          replies.set(payload.position, payload);
          if (replies.size === jobs.length) resolve();
        },
        { concurrency: 1 },
      );
      jobs.forEach((job, position) => {
        queue.add('analyze', { ...REF, position, image: `${base}/picture.jpg`, ...job }, { id: `job-${position}` });
      });
    });
    return replies;
  }

  it('takes no more jobs while enough images wait for its thread, and continues afterwards', async () => {
    await worker[Symbol.asyncDispose]();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const analyses = async () => {
      await released;
      return { outputs: '{}', width: 1, height: 1, times: {} };
    };
    let fetched = 0;
    let freed = 0;
    worker = createAnalyzerWorker({
      queue,
      analyzer: { ...analyzer, analyze: analyses },
      threads: 1,
      download: async () => {
        fetched++;
        return { bytes: new Uint8Array(1), release: () => freed++ };
      },
      log: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
    });
    const replies = analyze(Array.from({ length: 30 }, () => ({})));
    while (fetched < 30) await delay(1);
    const more = Array.from({ length: 10 }, (_, i) => i + 100);
    for (const position of more) {
      const job = { ...REF, position, image: `${base}/picture.jpg` };
      await queue.add('analyze', job, { id: `job-${position}` });
    }
    expect(await queue.counts('analyze')).toMatchObject({ waiting: 10, active: 30 });
    release();
    expect(await replies).toHaveProperty('size', 30);
    while ((await queue.counts('analyze')).waiting > 0) await delay(1);
    while (freed < 40) await delay(1);
  });

  it('lets the first download take less time if a client may wait for it', async () => {
    await worker[Symbol.asyncDispose]();
    const limits = new Map<string, number | undefined>();
    worker = createAnalyzerWorker({
      queue,
      analyzer,
      threads: 1,
      download: async (url, _urgent, _signal, maxMilliseconds) => {
        limits.set(url, maxMilliseconds);
        throw new AkinError('image-unreachable', 'The test has no hosts.');
      },
      log: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
    });
    await analyze([
      { image: 'first', attempt: 1 },
      { image: 'second', attempt: 2 },
      { image: 'bulk', attempt: 1, bulk: true },
    ]);
    expect(Object.fromEntries(limits)).toEqual({ first: 15_000, second: undefined, bulk: undefined });
  });

  it('gives no picture up because it waits long for the others', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
    await worker[Symbol.asyncDispose]();
    let started = 0;
    worker = createAnalyzerWorker({
      queue,
      // One hour for each picture.
      analyzer: {
        ...analyzer,
        analyze: async () => {
          started++;
          await new Promise((resolve) => setTimeout(resolve, 3_600_000));
          return { outputs: '{}', width: 1, height: 1, times: {} };
        },
      },
      threads: 1,
      download: async () => ({ bytes: new Uint8Array(1), release: () => {} }),
      log: createLogger({ name: 'test', level: 'silent' }),
      metrics: createMetrics(),
    });
    const found = results();
    for (let i = 0; i < 3; i++) await add(i, {});
    while (found.size < 3) await jest.advanceTimersByTimeAsync(60_000);
    expect([...found.values()]).toEqual(Array(3).fill({ outputs: '{}' }));
    expect(started).toBe(3);
  });

  it('answers with outputs and a thumbnail, naming what it was asked', async () => {
    const [reply] = (await analyze([{ position: 4 }])).values();
    const { result, ...ref } = reply as JobPayload<'analyzed'>;
    expect(ref).toEqual(REF);
    if (!('outputs' in result)) throw new Error(JSON.stringify(result));
    expect(Object.keys(JSON.parse(result.outputs))).toHaveLength(20);
    expect(
      Buffer.from(result.thumbnail ?? '', 'base64')
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
    expect((await metrics.text()).text).toContain('akin_analyses_total{outcome="outputs"} 1');
  });

  it('applies only the requested modules', async () => {
    const [reply] = (await analyze([{ modules: ['copyspace'] }])).values();
    expect(reply?.result).toMatchObject({ outputs: expect.stringMatching(/^\{"copyspace":\[[\d,]*\]\}$/) });
  });

  it('answers with the error of an image, and whether it may be temporary', async () => {
    const replies = await analyze([
      { image: `${base}/missing.jpg` },
      { image: `${base}/busy.jpg` },
      { image: `${base}/drawing.svg` },
      { image: 'http://127.0.0.1:1/refused.jpg' },
      { image: 'http://192.168.0.1/private.jpg' },
      { image: 'not an address' },
    ]);
    const ends = [0, 1, 2, 3, 4, 5].map((position) => {
      const result = replies.get(position)?.result;
      return result !== undefined && 'error' in result ? [result.error.code, result.passing] : result;
    });
    expect(ends).toEqual([
      ['image-unreachable', false],
      ['image-unreachable', true],
      ['unsupported-image', false],
      ['image-unreachable', true],
      ['image-unreachable', false],
      ['image-unreachable', false],
    ]);
  });

  it('gives no picture up because the queue refuses its result', async () => {
    await worker[Symbol.asyncDispose]();
    const refused: JobPayload<'analyzed'>['result'][] = [];
    const add: Queue['add'] = async (_, payload) => {
      refused.push((payload as JobPayload<'analyzed'>).result);
      throw new Error('OOM command not allowed');
    };
    worker = startWorker(analyzer, { ...queue, add });
    await queue.add('analyze', { ...REF, image: `${base}/picture.jpg`, modules: ['color'] }, { id: 'a' });
    while ((await queue.counts('analyze')).failed === 0) await delay(5);
    expect(refused.filter((result) => !('outputs' in result))).toEqual([]);
    expect(refused).toHaveLength(3);
    expect(await queue.liveJobs('analyze', ['a'])).toEqual(new Set());
  });

  it('gives a picture up that crashed the processes that took it', async () => {
    await worker[Symbol.asyncDispose]();
    const found = results();
    // The queue of a single process has no job that did so.
    const work: Queue['work'] = (name, _, { onFailed, ...options }) => {
      const handler = async (job: Parameters<NonNullable<typeof onFailed>>[0]) =>
        onFailed?.(job, new Error('stalled'), true);
      return queue.work(name, handler, options);
    };
    worker = startWorker(analyzer, { ...queue, work });
    await add(0, {});
    while (found.size < 1) await delay(5);
    expect([...found.values()]).toMatchObject([{ error: { code: 'image-undecodable' }, passing: false }]);
  });

  it('logs the request id of an image when it fails, and passes the id on', async () => {
    await worker[Symbol.asyncDispose]();
    const lines: string[] = [];
    createAnalyzerWorker({
      queue,
      analyzer,
      threads: 1,
      download: () => Promise.reject(new Error('of our own making')),
      log: createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } }),
      metrics: createMetrics(),
    });
    const origin = { requestId: 'from-a-client' };
    const reply = (await analyze([{ origin }])).get(0);
    expect(reply).toMatchObject({ origin, result: { error: { code: 'internal' }, passing: true } });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ requestId: 'from-a-client', job: 'job-0' }]);
  });

  /** Collects the results by position as they arrive. */
  function results(): Map<number, JobPayload<'analyzed'>['result']> {
    const found = new Map<number, JobPayload<'analyzed'>['result']>();
    queue.work('analyzed', async ({ payload }) => void found.set(payload.position, payload.result), { concurrency: 1 });
    return found;
  }
  async function add(position: number, job: Partial<JobPayload<'analyze'>>): Promise<void> {
    const payload = { ...REF, position, image: `${base}/picture.jpg`, modules: ['color'], ...job };
    await queue.add('analyze', payload, { id: `job-${position}` });
  }

  it('continues with pictures of other hosts while one host does not answer', async () => {
    const found = results();
    held.length = 0;
    for (let i = 0; i < 40; i++)
      await add(i, { image: `${base.replace('127.0.0.1', 'localhost')}/slow/${i}`, bulk: i >= 20 });
    while (held.length < 6) await delay(5);
    await add(40, { bulk: true });
    await add(41, {});
    while (found.size < 2) await delay(5);
    expect([...found.keys()].sort()).toEqual([40, 41]);
    expect(held.length).toBe(6);
    while (found.size < 42) {
      for (const respond of held.splice(0)) respond();
      await delay(5);
    }
    expect([...found.values()].every((result) => 'outputs' in result)).toBe(true);
  });

  it('finishes the running analysis and hands back the jobs that wait for a host, before it closes', async () => {
    const found = results();
    held.length = 0;
    for (let i = 0; i < 10; i++) await add(i, { image: `${base}/slow/${i}` });
    while (held.length < 6) await delay(5);
    await worker[Symbol.asyncDispose]();
    while (found.size < 10) await delay(5);
    expect([...found.values()]).toEqual(Array(10).fill({ handedBack: true }));
    expect(await queue.counts('analyze')).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 0 });
    for (const respond of held) respond();
  });

  it('hands running jobs back too if they do not end soon', async () => {
    const endless: Analyzer = {
      ...analyzer,
      analyze: (_, { signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    };
    await worker[Symbol.asyncDispose]();
    worker = startWorker(endless);
    const found = results();
    await add(0, { image: `${base}/picture.jpg` });
    while (!(await metrics.text()).text.includes('akin_analysis_seconds_count{part="download"} 1')) await delay(5);
    await worker[Symbol.asyncDispose]();
    while (found.size < 1) await delay(5);
    expect([...found.values()]).toEqual([{ handedBack: true }]);
  });
});
