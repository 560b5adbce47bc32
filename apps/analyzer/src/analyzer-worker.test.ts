import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JobPayload } from '@akin/contract';
import { downloadImage } from '@akin/imaging';
import { type Analyzer, createAnalyzer } from '@akin/modules/analyze';
import { createMemoryQueue, type Queue } from '@akin/queue';
import { createLogger, createMetrics, type Metrics } from '@akin/runtime';
import { drawImage } from '@akin/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createAnalyzerWorker } from './analyzer-worker.ts';

let analyzer: Analyzer;
let images: Server;
let base: string;

beforeAll(async () => {
  const picture = await drawImage({ width: 320, height: 240 });
  images = createServer((request, response) => {
    if (request.url === '/picture.jpg') response.end(picture);
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
    metrics = createMetrics();
    worker = createAnalyzerWorker({
      queue,
      analyzer,
      threads: 1,
      download: (url, signal) => downloadImage(url, { policy: { allowLoopback: true, allowPrivate: false }, signal }),
      log: createLogger({ name: 'test', level: 'silent' }),
      metrics,
    });
  });
  afterEach(async () => queue[Symbol.asyncDispose]());

  const REF = { collection: 1, request: '9007199254740993', position: 4, attempt: 2 };

  /** Adds jobs and gives what comes back, by address. */
  async function analyze(jobs: Partial<JobPayload<'analyze'>>[]): Promise<Map<number, JobPayload<'analyzed'>>> {
    const answers = new Map<number, JobPayload<'analyzed'>>();
    await new Promise<void>((resolve) => {
      queue.work(
        'analyzed',
        async ({ payload }) => {
          answers.set(payload.position, payload);
          if (answers.size === jobs.length) resolve();
        },
        { concurrency: 1 },
      );
      jobs.forEach((job, position) => {
        queue.add('analyze', { ...REF, position, image: `${base}/picture.jpg`, ...job }, { id: `job-${position}` });
      });
    });
    return answers;
  }

  it('answers with outputs and a thumbnail, naming what it was asked', async () => {
    const [answer] = (await analyze([{ position: 4 }])).values();
    const { result, ...ref } = answer as JobPayload<'analyzed'>;
    expect(ref).toEqual(REF);
    if ('error' in result) throw new Error(result.error.msg);
    expect(Object.keys(JSON.parse(result.outputs))).toHaveLength(20);
    expect(
      Buffer.from(result.thumbnail ?? '', 'base64')
        .subarray(8, 12)
        .toString(),
    ).toBe('WEBP');
    expect((await metrics.text()).text).toContain('akin_analyses_total{end="outputs"} 1');
  });

  it('applies the modules that were asked for alone', async () => {
    const [answer] = (await analyze([{ modules: ['copyspace'] }])).values();
    expect(answer?.result).toMatchObject({ outputs: expect.stringMatching(/^\{"copyspace":\[[\d,]*\]\}$/) });
  });

  it('answers with what is wrong with an image, and whether that may pass', async () => {
    const answers = await analyze([
      { image: `${base}/missing.jpg` },
      { image: `${base}/busy.jpg` },
      { image: `${base}/drawing.svg` },
      { image: 'http://127.0.0.1:1/refused.jpg' },
      { image: 'http://192.168.0.1/private.jpg' },
      { image: 'not an address' },
    ]);
    const ends = [0, 1, 2, 3, 4, 5].map((position) => {
      const result = answers.get(position)?.result;
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

  it('ends what it has begun before it is gone', async () => {
    await queue.add('analyze', { ...REF, image: `${base}/picture.jpg` }, { id: 'a' });
    await worker[Symbol.asyncDispose]();
    expect(await queue.counts('analyze')).toMatchObject({ waiting: 0, active: 0 });
    expect(await queue.counts('analyzed')).toMatchObject({ waiting: 1 });
  });
});
