import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { readBacklog } from '@akin/store/changes';
import { findCollection } from '@akin/store/database';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ANALYZE, echo } from '../../test/echoing-gateway.ts';
import {
  ask,
  createGateway,
  FORM_BODY,
  type Gateway,
  JSON_BODY,
  postJson,
  testConfig,
} from '../../test/start-gateway.ts';
import { startService, useService } from '../../test/start-service.ts';

/** An analysis that lasts until the test ends it. */
function held() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release: () => release(), analyze: () => released.then(() => ({ outputs: '{}' })) };
}

const UPDATE = '/api/cores/my-collection/update';
const documents = (name: string, count: number) => Array.from({ length: count }, (_, i) => ({ id: `${name}${i}` }));
/** The start of an array with more documents than a small request has. */
const beginning = (name: string) => JSON.stringify(documents(name, 30)).slice(0, -1);

describe('an overloaded gateway', () => {
  it('answers 429 with Retry-After if too many pictures wait; uploads do not wait for downloads', async () => {
    const { analyze, release } = held();
    const few = { concurrent: 2, queued: 1, queueMilliseconds: 60_000, fair: true };
    await using gateway = await createGateway(testConfig({ analyze, limits: { fetchedPictures: few } }));
    const fetched = () => ask(gateway, '/api/cores/any/analyze?input.url=http://pictures.example/a.jpg');
    const refusals: number[] = [];
    const responses = Array.from({ length: 6 }, async () => {
      const response = await fetched();
      if (response.status === 429) refusals.push(response.status);
      return response;
    });
    const refused = await Promise.race(responses);
    while (refusals.length < 3) await new Promise((resolve) => setImmediate(resolve));
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    const sent = ask(gateway, '/api/cores/any/analyze', { body: 'input.data=AAAA', headers: FORM_BODY });
    release();
    expect((await sent).status).toBe(200);
    expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429]);
  });

  it('answers 503 above the limit of open requests, but still reports its health', async () => {
    const { analyze, release } = held();
    const store = { ...testConfig().store, ping: async () => {} };
    await using gateway = await createGateway(testConfig({ store, analyze, limits: { openRequests: 2 } }));
    const fetched = () => ask(gateway, '/api/cores/any/analyze?input.url=http://pictures.example/a.jpg');
    const responses = Array.from({ length: 3 }, fetched);
    const refused = await Promise.race(responses);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
    expect((await ask(gateway, '/health/ready')).status).toBe(200);
    release();
    expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([200, 200, 503]);
    expect((await fetched()).status).toBe(200);
  });

  it('counts the bytes of pictures until their request is answered: further requests get 429', async () => {
    let entered = () => {};
    let leave = () => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const answered = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const analyze = async () => {
      entered();
      await answered;
      return { outputs: '{}' };
    };
    await using gateway = await createGateway(testConfig({ analyze, limits: { parameterMemoryBytes: 10_000 } }));
    const picture = () =>
      ask(gateway, '/api/cores/any/analyze', { body: `input.data=${'A'.repeat(8_000)}`, headers: FORM_BODY });
    const first = picture();
    await inside;
    const second = await picture();
    expect([second.status, second.headers['retry-after'], second.json.error.metadata]).toEqual([
      429,
      '2',
      ['error-class', 'too-many-requests'],
    ]);
    leave();
    expect((await first).status).toBe(200);
    expect((await picture()).status).toBe(200);
  });

  it('refuses large bodies with a response that also a client sees which sends everything before it reads', async () => {
    await using gateway = await createGateway(testConfig({ limits: { parameterBytes: 1_000_000 } }));
    const body = `input.data=${'A'.repeat(60_000_000)}`;
    const response = await sendBlindly(gateway.port, '/api/cores/any/analyze', body);
    expect(response).toMatch(/^HTTP\/1\.1 413 .*"error"/s);
  });
});

describe('a service without places', () => {
  const none = { concurrent: 0, queued: 0, queueMilliseconds: 60_000 };
  const service = useService({ limits: { bulkUpdates: { ...none, fair: true }, searches: none } });

  it('accepts small updates while large ones wait, and large ones afterwards', async () => {
    const update = (count: number) => postJson(service.gateway, `${UPDATE}?commit=true`, documents('small', count));
    expect((await update(21)).status).toBe(429);
    expect((await update(20)).status).toBe(200);
  });

  it('answers 503 if too many searches wait', async () => {
    expect((await postJson(service.gateway, `${UPDATE}?commit=true`, { id: '1', tag: 'x' })).status).toBe(200);
    for (const path of [
      'select',
      'terms?terms.fl=tag',
      'groups',
      'export',
      'tag?tagging.field=tag&tagging.input.url=http://pictures.example/a.jpg',
    ]) {
      const response = await ask(service.gateway, `/api/cores/my-collection/${path}`);
      expect([path, response.status, response.json.error.msg]).toEqual([
        path,
        503,
        expect.stringContaining('Too many searches'),
      ]);
    }
  });
});

describe('the backlog quota', () => {
  const service = useService({ limits: { waitingAnalyses: 100, unappliedChanges: 400 } });
  beforeAll(() => service.pause());

  let next = 0;
  const pictures = (count: number) =>
    Array.from({ length: count }, () => ({ id: `p${next++}`, image: 'http://pictures.example/a.jpg' }));
  const plain = (count: number) => Array.from({ length: count }, () => ({ id: `d${next++}` }));
  const send = (documents: unknown) => postJson(service.gateway, `${UPDATE}?async=true`, documents);
  /** The counts are read again after a second. */
  async function untilStatus(status: number, documents: () => unknown) {
    for (;;) {
      const response = await send(documents());
      if (response.status === status) return response;
      expect([202, 429]).toContain(response.status);
    }
  }
  const backlog = async () =>
    readBacklog(service.store, await findCollection(service.store, 'my-collection'), { analyses: 0, changes: 0 });

  it('accepts a single request that exceeds the whole quota', async () => {
    expect((await send(pictures(120))).status).toBe(202);
    expect(await backlog()).toEqual({ analyses: 1, changes: 1 });
  });

  it('refuses bulk requests with pictures, says when to try again, and keeps nothing of them', async () => {
    const { headers, json } = await untilStatus(429, () => pictures(30));
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(json.error.msg).toContain('pictures of the collection my-collection wait to be analyzed');
    expect((await send(plain(30))).status).toBe(202);
  });

  it('accepts small requests a little longer, then refuses them too', async () => {
    await untilStatus(429, () => pictures(1));
    expect((await send(plain(1))).status).toBe(202);
  });

  it('refuses all changes if too many wait to be applied', async () => {
    const { json } = await untilStatus(429, () => plain(50));
    expect(json.error.msg).toContain('changes of the collection my-collection wait to be applied');
    expect((await send(plain(1))).status).toBe(202);
    expect((await send({ delete: ['d1'] })).status).toBe(202);
  });

  it('accepts bulk requests again when the backlog is done', async () => {
    service.resume();
    const commit = '/api/cores/my-collection/update?commit=true&waitAnalysis=true';
    expect((await postJson(service.gateway, commit, { delete: ['x'] })).status).toBe(200);
    await untilStatus(202, () => pictures(30));
  });
});

describe('a body that trickles', () => {
  const limits = { bodyIdleMilliseconds: 300, bodyBytesPerSecond: 10_000 };
  const service = useService({ limits });

  it.each([
    ['an update', UPDATE, 'application/json', beginning('slow')],
    ['a form', ANALYZE, 'application/x-www-form-urlencoded', 'input.data='],
  ])('is refused with 408 and the minimum rate: %s', async (_, path, type, first) => {
    using body = trickle(service.gateway, path, { type, first, everyMilliseconds: 20 });
    const response = await body.response;
    expect(response).toMatch(/^HTTP\/1.1 408 /);
    expect(JSON.parse(response.slice(response.indexOf('{"')).split('\n')[0] ?? '')).toMatchObject({
      error: {
        code: 408,
        msg: 'The body stopped or arrives too slowly: send at least 10000 bytes a second, and pause for less than 0.3 seconds.',
        metadata: ['error-class', 'request-timeout'],
      },
    });
    expect((await ask(service.gateway, '/api/cores/my-collection/select')).json.response.numFound).toBe(0);
  });

  it('is also refused if nothing of it can be decompressed yet', async () => {
    await using gateway = await createGateway(testConfig({ analyze: echo, limits }));
    const first = gzipSync('input.data=aGVsbG8%3D').subarray(0, 5);
    using body = trickle(gateway, ANALYZE, { first, gzip: true, everyMilliseconds: 20 });
    expect(await body.response).toMatch(/^HTTP\/1.1 4(08|00) /);
  });

  it('is accepted at the minimum rate, for longer than the maximum pause', async () => {
    await using service = await startService({ limits: { bodyIdleMilliseconds: 2_000, bodyBytesPerSecond: 1 } });
    using body = trickle(service.gateway, UPDATE, { first: beginning('steady'), everyMilliseconds: 50, times: 60 });
    expect(await body.response).toMatch(/^HTTP\/1.1 200 /);
  });
});

describe('bodies that trickle at the minimum rate', () => {
  const limits = {
    bulkUpdates: { concurrent: 4, queued: 12, queueMilliseconds: 60_000, fair: true },
    bodyIdleMilliseconds: 60_000,
  };

  it('of one client leave a place for others', async () => {
    // Each address is a separate client, as a proxy reports it.
    await using service = await startService({ limits, access: { proxies: 1 } });
    const slow = Array.from({ length: 5 }, (_, i) =>
      trickle(service.gateway, UPDATE, { first: beginning(`slow${i}`), everyMilliseconds: 20, from: '192.0.2.1' }),
    );
    try {
      const bulk = (from: string) =>
        ask(service.gateway, `${UPDATE}?commit=true`, {
          body: JSON.stringify(documents(from, 30)),
          headers: { ...JSON_BODY, 'x-forwarded-for': from },
        });
      for (const from of ['192.0.2.2', '192.0.2.3', '192.0.2.2']) expect((await bulk(from)).status).toBe(200);
      // Further requests of the first client wait until its slow ones end.
      const own = bulk('192.0.2.1');
      for (const body of slow) body[Symbol.dispose]();
      expect((await own).status).toBe(200);
    } finally {
      for (const body of slow) body[Symbol.dispose]();
    }
  });

  it('free their place for the next one after a refusal', async () => {
    const one = { bulkUpdates: { concurrent: 1, queued: 1, queueMilliseconds: 60_000 } };
    await using service = await startService({
      // A body that arrives at once gets a second for that on a busy machine.
      limits: { ...one, bodyIdleMilliseconds: 1_000, bodyBytesPerSecond: 10_000 },
    });
    using slow = trickle(service.gateway, UPDATE, { first: beginning('slow'), everyMilliseconds: 20 });
    const responses = [slow.response, bulkTo(service.gateway)] as const;
    const [refused, taken] = await Promise.all(responses);
    expect(refused).toMatch(/^HTTP\/1.1 408 /);
    expect(taken.status).toBe(200);
  });
});

const bulkTo = (gateway: Gateway) =>
  ask(gateway, `${UPDATE}?commit=true`, { body: JSON.stringify(documents('next', 30)), headers: JSON_BODY });

interface Trickling extends Disposable {
  /** Everything that was received. */
  readonly response: Promise<string>;
}

/** Sends the start of a body in one chunk, then blanks: forever, or a given number and then the end of an array. */
function trickle(
  { port }: Gateway,
  path: string,
  options: {
    readonly first: string | Uint8Array;
    readonly everyMilliseconds: number;
    readonly times?: number;
    readonly type?: string;
    readonly gzip?: boolean;
    readonly from?: string;
  },
): Trickling {
  const { first, everyMilliseconds, times = Number.POSITIVE_INFINITY, gzip, from } = options;
  const type = options.type ?? (gzip ? 'application/x-www-form-urlencoded' : 'application/json');
  const socket = connect(port, '127.0.0.1');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${type}`,
    'Transfer-Encoding: chunked',
    'Connection: close',
    ...(gzip ? ['Content-Encoding: gzip'] : []),
    ...(from ? [`X-Forwarded-For: ${from}`] : []),
  ];
  const chunk = (bytes: string | Uint8Array) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(chunk(first));
  let sent = 0;
  const timer = setInterval(() => {
    if (sent++ < times) socket.write(chunk(gzip ? Uint8Array.of(0) : ' '));
    else {
      clearInterval(timer);
      socket.write(`${chunk(']')}0\r\n\r\n`);
    }
  }, everyMilliseconds);
  let text = '';
  const response = new Promise<string>((resolve) => {
    socket.on('data', (bytes) => {
      text += bytes;
      // The response is complete. The gateway still waits for the rest of the body for a while.
      if (/\n\r?\n?$/.test(text) && text.includes('}\n')) resolve(text);
    });
    socket.on('error', () => {}).on('close', () => resolve(text));
  });
  return {
    response,
    [Symbol.dispose]() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}

/** Sends everything, and only then reads. Chunked, so that the size is not known in advance. */
async function sendBlindly(port: number, path: string, body: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.pause();
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FORM_BODY['content-type']}\r\n`;
  const sent = `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(sent, () => resolve());
  });
  let response = '';
  for await (const chunk of socket) response += String(chunk);
  socket.destroy();
  return response;
}
