import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { ANALYZE, echo } from '../../test/echoing-gateway.ts';
import { ask, createGateway, type Gateway, JSON_BODY, testConfig } from '../../test/start-gateway.ts';
import { startService } from '../../test/start-service.ts';

const UPDATE = '/api/cores/my-collection/update';
const documents = (name: string, count: number) => Array.from({ length: count }, (_, i) => ({ id: `${name}${i}` }));
/** The start of an array with more documents than a small request has. */
const beginning = (name: string) => JSON.stringify(documents(name, 30)).slice(0, -1);

describe('a body that trickles', () => {
  it.each([
    ['an update', UPDATE, 'application/json', beginning('slow')],
    ['a form', ANALYZE, 'application/x-www-form-urlencoded', 'input.data='],
  ])('is refused with 408 and the minimum rate: %s', async (_, path, type, first) => {
    await using service = await startService({ limits: { bodyIdleMilliseconds: 300, bodyBytesPerSecond: 10_000 } });
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
    const limits = { bodyIdleMilliseconds: 300, bodyBytesPerSecond: 10_000 };
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
