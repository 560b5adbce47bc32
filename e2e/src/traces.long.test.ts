import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  drawImage,
  type ReceivedSpan,
  receiveTraces,
  type TestDatabase,
  type TestRedis,
  type TraceReceiver,
  testDatabase,
  testRedis,
} from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveAkin, temporaryFolder, until } from './akin.ts';
import { type FleetProcess, type Pictures, servePictures, startFleet } from './fleet.ts';

const FLEET_KEY = 'a-fleet-key-nobody-may-see';
/** The trace and span of a client. The spans of the fleet continue that trace. */
const CLIENT = { trace: '0af7651916cd43dd8448eb211c80319c', span: 'b7ad6b7169203331' };

describe('traces of a fleet', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let pictures: Pictures;
  let picture: Buffer;
  let receiver: TraceReceiver;
  let gateway: FleetProcess;
  let all: readonly FleetProcess[];

  beforeAll(async () => {
    database = await testDatabase();
    redis = await testRedis();
    picture = await drawImage({ width: 320, height: 240 });
    pictures = await servePictures(picture);
    receiver = await receiveTraces();
    const env = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      AKIN_REDIS_PREFIX: redis.prefix,
      AKIN_FLEET_KEY: FLEET_KEY,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
    ({ gateway, all } = await startFleet(env));
    for (const one of all) await until(`${one.name} is ready`, () => one.isReady());
  });
  afterAll(async () => {
    for (const one of all ?? []) await one.kill();
    pictures?.close();
    receiver?.close();
    await redis?.drop();
    await database?.drop();
  });

  /** Asks as a client that traces does. */
  function ask(path: string, requestId: string, init: RequestInit = {}) {
    return fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...init.headers, 'x-request-id': requestId, traceparent: parent(requestId) },
    });
  }
  const parent = (requestId: string) => `00-${traceOf(requestId)}-${CLIENT.span}-01`;
  const traceOf = (requestId: string) => `${CLIENT.trace.slice(0, -2)}${requestId.slice(-2)}`;
  const ofTrace = (trace: string) => receiver.spans.filter(({ traceId }) => traceId === trace);
  const named = (spans: readonly ReceivedSpan[]) => spans.map(({ service, name }) => `${service} ${name}`).sort();

  it('show a change as one trace, from the client through gateway, indexer and analyzer', async () => {
    const document = { id: 'secret-id', title: 'secret title', image: `${pictures.url}/a.jpg?signature=secret` };
    const response = await ask('/api/cores/my-collection/update?commit=true', 'change-a1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Basic c2VjcmV0LXVzZXI6c2VjcmV0' },
      body: JSON.stringify([document]),
    });
    expect(response.status).toBe(200);
    const trace = traceOf('change-a1');
    const expected = [
      'akin-analyzer GET',
      'akin-analyzer analyze',
      'akin-analyzer process analyze',
      'akin-gateway POST /api/cores/:collection/update',
      'akin-gateway UPDATE requests',
      'akin-gateway publish',
      'akin-gateway stage',
      'akin-gateway wait for analyses',
      'akin-indexer process analyzed',
      'akin-indexer send analyze',
    ];
    await until('all spans are there', async () => ofTrace(trace).length >= expected.length);
    const spans = ofTrace(trace);
    expect(named(spans)).toEqual(expected);
    const one = (name: string) => spans.find((span) => span.name === name) as ReceivedSpan;
    const request = one('POST /api/cores/:collection/update');
    expect(request).toMatchObject({
      kind: 2,
      parentSpanId: CLIENT.span,
      attributes: {
        'http.route': '/api/cores/:collection/update',
        'http.response.status_code': 200,
        'akin.request.id': 'change-a1',
        'akin.collection': 'my-collection',
      },
    });
    const parents = [
      ['send analyze', 'POST /api/cores/:collection/update'],
      ['process analyze', 'send analyze'],
      ['GET', 'process analyze'],
      ['analyze', 'process analyze'],
      ['process analyzed', 'process analyze'],
    ] as const;
    for (const [child, above] of parents) expect([child, one(child).parentSpanId]).toEqual([child, one(above).spanId]);
    expect(one('process analyze').attributes).toMatchObject({
      'akin.request.id': 'change-a1',
      'akin.analysis.outcome': 'outputs',
    });
    expect(one('analyze').attributes['akin.module_seconds.content']).toBeGreaterThan(0);
    await until('the commit names the request', async () =>
      receiver.spans.some(({ name, links }) => name === 'commit' && links.includes(trace)),
    );
  });

  it('show a search as one trace, with its path and its cost', async () => {
    const form = new URLSearchParams({
      q: '-title:secretword',
      fq: 'id:secret-id',
      'rank.by.data': picture.toString('base64'),
    });
    const response = await ask('/solr/my-collection/image?fl=id', 'search-b2', { method: 'POST', body: form });
    expect(await response.json()).toMatchObject({ response: { numFound: 1 } });
    const trace = traceOf('search-b2');
    const expected = [
      'akin-analyzer POST /api/cores/:collection/analyze',
      'akin-analyzer analyze',
      'akin-gateway POST',
      'akin-gateway POST /solr/:collection/image',
      'akin-gateway SELECT page',
      'akin-gateway SELECT totals',
      'akin-gateway search',
    ];
    await until('all spans are there', async () => ofTrace(trace).length >= expected.length);
    const spans = ofTrace(trace);
    expect(named(spans)).toEqual(expected);
    expect(spans.find(({ name }) => name === 'search')?.attributes).toMatchObject({
      'akin.search.path': 'exact',
      'akin.search.distances': 1,
      'akin.search.found': 1,
      'akin.search.module': 'content',
    });
    expect(spans.find(({ name }) => name === 'SELECT page')).toMatchObject({
      kind: 3,
      attributes: { 'db.system.name': 'postgresql', 'db.query.summary': 'SELECT page' },
    });
  });

  it('show a failure by its kind, and in the log of each process under the ids of request and trace', async () => {
    const image = `${pictures.url}/broken?signature=secret`;
    const response = await ask('/api/cores/my-collection/update', 'broken-c3', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ id: 'broken', image }]),
    });
    expect(response.status).toBe(422);
    const trace = traceOf('broken-c3');
    await until('the failure is there', async () =>
      ofTrace(trace).some(({ service, status }) => service === 'akin-analyzer' && status === 2),
    );
    expect(ofTrace(trace).find(({ status }) => status === 2)?.attributes['error.type']).toBe('image-unreachable');
    for (const one of all.filter(({ name }) => name !== 'analyzer')) {
      const linesOf = () => one.log.split('\n').filter((line) => line.includes('"broken-c3"') && line.endsWith('}'));
      await until(`${one.name} has logged it`, async () => linesOf().length > 0);
      const lines = linesOf();
      for (const line of lines) expect(JSON.parse(line)).toMatchObject({ trace_id: trace, requestId: 'broken-c3' });
    }
  });

  it('show many pictures as traces of their own, with links to their request', async () => {
    const documents = Array.from({ length: 22 }, (_, i) => ({ id: `many${i}`, image: `${pictures.url}/${i}.jpg` }));
    const response = await ask('/api/cores/my-collection/update', 'many-d4', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(documents),
    });
    expect(response.status).toBe(200);
    const trace = traceOf('many-d4');
    const sent = () =>
      receiver.spans.filter(
        ({ name, attributes }) => name === 'send analyze' && attributes['akin.request.id'] === 'many-d4',
      );
    await until('all are there', async () => sent().length === 22);
    expect(sent().filter(({ traceId }) => traceId === trace)).toHaveLength(20);
    const apart = sent().filter(({ traceId }) => traceId !== trace);
    expect(apart.map(({ links }) => links)).toEqual([[trace], [trace]]);
    for (const { traceId } of apart) {
      await until('its analysis is there', async () => ofTrace(traceId).some(({ name }) => name === 'analyze'));
    }
  });

  it('contain neither probes nor empty commits', async () => {
    await gateway.get('/metrics');
    await ask('/api/cores/my-collection/select', 'later-f1');
    await until('a later request is there', async () => ofTrace(traceOf('later-f1')).some(({ kind }) => kind === 2));
    for (const { name } of receiver.spans) expect(name).not.toMatch(/health|metrics/);
    for (const { name, attributes } of receiver.spans) {
      if (name === 'commit') expect(attributes['akin.commit.applied']).toBeGreaterThan(0);
    }
  });

  it('contain no picture, no key and no words of a query', async () => {
    for (const one of all) expect(await one.stop()).toBe(0);
    const text = Buffer.concat(receiver.bodies as Buffer[]).toString();
    expect(text).toContain('akin.request.id');
    expect(text).not.toContain('secret');
    expect(text).not.toContain('c2VjcmV0');
    expect(text).not.toContain(FLEET_KEY);
    expect(text).not.toContain(picture.toString('base64').slice(0, 60));
    expect(text).not.toMatch(/[A-Za-z0-9+/]{200}/);
  });
});

describe('traces of akin serve', () => {
  let data: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    data = await temporaryFolder();
  });
  afterAll(() => data.remove());

  const start = (env: NodeJS.ProcessEnv) =>
    serveAkin(['--no-demo', '--data', path.join(data.folder, 'data')], {
      AKIN_THREADS: '1',
      AKIN_LOG_LEVEL: 'info',
      ...env,
    });

  it('are off: nothing of OpenTelemetry is loaded', async () => {
    // Reports which modules are loaded.
    const hooks = path.join(data.folder, 'hooks.mjs');
    await writeFile(
      hooks,
      `import { register } from 'node:module';
       import { writeSync } from 'node:fs';
       import { isMainThread } from 'node:worker_threads';
       if (isMainThread) register(import.meta.url);
       export async function resolve(specifier, context, next) {
         const found = await next(specifier, context);
         if (/pino|opentelemetry/.test(found.url)) writeSync(2, 'loads ' + found.url + '\\n');
         return found;
       }`,
    );
    const akin = await start({ NODE_OPTIONS: `--import=${hooks}` });
    await akin.client.collection('my-collection').select();
    const { code, err } = await akin.command.stop();
    expect(code).toBe(0);
    expect(err).toContain('loads file:');
    expect(err).not.toContain('opentelemetry');
  });
});
