import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { createClient } from '@akin/client';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { BulkDocument } from './read-document.ts';
import { type SendOptions, sendBatch } from './send-batch.ts';
import { SendQueues } from './send-queues.ts';

type Reply = { status: number; body?: object; retryAfter?: number };

let server: Server;
afterEach(() => {
  server.close();
});

/** A server that gives prepared responses and keeps the requests. */
async function answering(reply: (ids: string[], request: number) => Reply | Promise<Reply>) {
  const requests: string[][] = [];
  let seq = 0;
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    const ids = String(text)
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    requests.push(ids);
    const { status, body, retryAfter } = await reply(ids, requests.length);
    if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
    const operations = { first: `c-${seq + 1}`, last: `c-${seq + ids.length}`, count: ids.length };
    if (status === 200) seq += ids.length;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { responseHeader: { token: 't' }, operations }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted: string[] = [];
  const refused: [string, string][] = [];
  const sending: SendOptions<BulkDocument> = {
    collection: createClient({ baseUrl: `http://127.0.0.1:${port}` }).collection('c'),
    limiter: new ConcurrencyLimiter(4),
    compress: true,
    parameters: { async: true },
    maxOutageMilliseconds: 120_000,
    signal: new AbortController().signal,
    accepted: (documents) => accepted.push(...documents.map(({ id }) => id)),
    refused: ({ id }, reason) => refused.push([id, reason]),
  };
  return { requests, accepted, refused, sending };
}

const document = (id: string, number = 1): BulkDocument => ({
  id,
  number,
  bytes: Buffer.from(JSON.stringify({ id })),
  start: 0,
  end: 0,
  hasPicture: false,
});
const documents = (...ids: string[]) => ids.map((id) => document(id));
const OK: Reply = { status: 200 };

describe('sending documents', () => {
  it.each([408, 429, 503])('repeats a request after %s, compressed', async (status) => {
    const outcome = await answering((_, request) => (request === 1 ? { status, body: {}, retryAfter: 1 } : OK));
    const from = performance.now();
    await sendBatch(documents('a', 'b'), outcome.sending);
    expect(performance.now() - from).toBeGreaterThan(900);
    expect(outcome.requests).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect([outcome.accepted, outcome.refused]).toEqual([['a', 'b'], []]);
  });

  it('leaves out what akin names, in one request or by a conflict, and finds others by bisection', async () => {
    const reason = (id: string) => `Document "${id}" at position 1: it is odd.`;
    const outcome = await answering((ids) => {
      if (ids.includes('b')) {
        const details = [{ position: 1, code: 'conflict', msg: reason('b') }];
        return { status: 409, body: { error: { msg: 'odd', details } } };
      }
      if (ids.includes('e')) return { status: 400, body: { error: { msg: 'unreadable' } } };
      if (!ids.includes('c')) return OK;
      const errors = [{ type: 'ADD', id: 'c', position: 1, message: `Line 2: ${reason('c')}` }];
      return { status: 200, body: { responseHeader: { errors }, operations: { first: 'c-1' } } };
    });
    await sendBatch(documents('a', 'b', 'c', 'd', 'e', 'f'), outcome.sending);
    expect(outcome.accepted).toEqual(['a', 'd', 'f']);
    expect(outcome.refused).toEqual([
      ['b', 'it is odd.'],
      ['c', 'it is odd.'],
      ['e', 'unreadable'],
    ]);
    expect(outcome.requests.map((ids) => ids.join(''))).toEqual(['abcdef', 'acdef', 'ac', 'def', 'd', 'ef', 'e', 'f']);
  });

  it('gives up when akin accepts nothing, and when it does not answer for too long', async () => {
    const outcome = await answering(() => ({ status: 401, body: { error: { msg: 'A key is needed.' } } }));
    await expect(sendBatch(documents('a'), outcome.sending)).rejects.toThrow('A key is needed.');
    server.close();
    const nobody = { ...outcome.sending, maxOutageMilliseconds: 0 };
    server.closeAllConnections();
    await expect(sendBatch(documents('a'), nobody)).rejects.toMatchObject({ status: 0 });
  });

  it('keeps the order of each id, in whatever order requests are answered', async () => {
    let open = 0;
    let most = 0;
    const outcome = await answering(async (_, request) => {
      most = Math.max(most, ++open);
      // Every second request is answered late, or refused at first.
      await new Promise((resolve) => setTimeout(resolve, (request % 3) * 10));
      open--;
      return request % 5 === 4 ? { status: 503, body: {}, retryAfter: 0.01 } : OK;
    });
    const ids = Array.from({ length: 24_000 }, (_, i) => `id ${i % 50}`);
    const seen = new Map<string, number[]>();
    const accepted: SendOptions<BulkDocument>['accepted'] = (batch) => {
      for (const { id, number } of batch) seen.set(id, [...(seen.get(id) ?? []), number]);
    };
    const queues = new SendQueues(4, (batch) => sendBatch(batch, { ...outcome.sending, accepted }));
    for (const [number, id] of ids.entries()) await queues.add(document(id, number));
    await queues.end();
    expect(queues.first()).toBeUndefined();
    expect([...seen.values()].flat()).toHaveLength(24_000);
    for (const numbers of seen.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(most).toBeGreaterThan(1);
  });
});
