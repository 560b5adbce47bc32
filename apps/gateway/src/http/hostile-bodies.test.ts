import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { ENDPOINTS, type Endpoint } from '@akin/contract';
import { createRandom } from '@akin/domain';
import { scaledByChaos } from '@akin/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { echo } from '../../test/echoing-gateway.ts';
import { ask, FORM_BODY, JSON_BODY } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';
const ONE = { concurrent: 1, queued: 0, queueMilliseconds: 60_000 };
const REQUESTS = 20;

let service: Service;
beforeAll(async () => {
  service = await startService({
    analyze: echo,
    limits: {
      searches: ONE,
      bulkUpdates: ONE,
      sentPictures: ONE,
      fetchedPictures: ONE,
      parameterMemoryBytes: 20_000,
      openRequests: 4,
      bodyIdleMilliseconds: 200,
      parameterMilliseconds: 1_000,
    },
  });
});
afterAll(async () => service?.[Symbol.asyncDispose]());

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Every path that takes a body. A reindex of a collection that exists would go on after its response. */
const TARGETS = Object.entries(ENDPOINTS as Record<string, Endpoint>).flatMap(([name, { methods, mount, path }]) => {
  const prefixes = mount === 'service' ? [''] : mount === 'legacy' ? ['/solr'] : ['/api/cores', '/solr'];
  const collection = name === 'reindex' ? 'none' : 'my-collection';
  const full = path.replace('{collection}', collection).replace(/\{[^}]+\}/g, '1');
  return methods
    .filter((method) => method === 'POST' || method === 'PUT')
    .flatMap((method) => prefixes.map((prefix) => `${method} ${prefix}${full}`));
});

const filler = (random: Random) => 'A'.repeat(pick(random, [0, 1, 500, 16_383, 16_384, 70_000, 400_000]));

/** Bodies as clients send them, or nearly, by content type. */
const BODIES: Readonly<Record<string, (random: Random) => string>> = {
  'application/json': (random) =>
    pick(random, [
      `{"id":"1","name":"${filler(random)}"}`,
      `[${Array.from({ length: 30 }, (_, i) => `{"id":"${i}"}`).join()}]`,
      `{"delete":["1"]}`,
      `{"scope":"search","note":"x","filter":"${filler(random)}"}`,
      `{"add":{"doc":{"id":"${filler(random)}"}}}`,
      `{"query":"*:*","limit":1}`,
      `[[[[[[`,
      `{"input.data":"${filler(random)}"}`,
    ]),
  'application/x-www-form-urlencoded': (random) =>
    pick(random, [
      `rows=0&q=${filler(random)}`,
      `input.data=${filler(random)}`,
      `scope=search&%zz`,
      'a=1&'.repeat(5_000),
      'input.url=http%3A%2F%2Fh.example%2Fa.jpg',
    ]),
  'multipart/form-data; boundary=b': (random) => {
    const header = () =>
      pick(random, [
        'X: y',
        'Content-Disposition: form-data; name="file"; filename="a.jpg"',
        'Content-Disposition: form-data; name="rows"',
        'Content-Disposition: form-data; name=""',
        'Content-Disposition: form-data',
        'Content-Disposition: attachment; name="x"',
        `Content-Disposition: form-data; name="document"\r\nContent-Type: ${filler(random).slice(0, 9_000)}`,
        '',
      ]);
    const part = () => `--b\r\n${header()}\r\n\r\n${filler(random)}\r\n`;
    return `${part()}${random() < 0.5 ? part() : ''}${pick(random, ['--b--\r\n', '--b--', '--b', '', `--b--${filler(random)}`])}`;
  },
  'multipart/form-data': () => '--b\r\n',
  'image/gif': (random) => `GIF89a${filler(random)}`,
  'application/octet-stream': filler,
  'application/x-ndjson': (random) =>
    pick(random, [
      `{"id":"1"}\n\n{"id":"2"}\n`,
      '{"id":"1"}\n'.repeat(50),
      `{"id":"${filler(random)}`,
      '\n'.repeat(9_000),
    ]),
  'application/xml': (random) =>
    pick(random, [
      `<add><doc><field name="id">1</field><field name="a">${filler(random)}</field></doc></add>`,
      `<add>${'<doc><field name="id">1</field></doc>'.repeat(40)}</add>`,
      '<!DOCTYPE a [<!ENTITY b "c">]><add/>',
      `<delete><query>${filler(random)}</query></delete>`,
      '<add><doc>',
    ]),
  'application/javabin': filler,
  'text/plain; charset=utf-16': filler,
};

const ENCODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  'gzip, gzip': (bytes) => gzipSync(gzipSync(bytes)),
  'gzip, br, gzip': (bytes) => bytes,
  zstd: (bytes) => bytes,
};

/** A request as bytes, and where its client leaves: undefined if it waits for an answer. */
function hostileRequest(random: Random): { readonly head: string; readonly body: Buffer; readonly leavesAt?: number } {
  const type = pick(random, Object.keys(BODIES));
  let body: Buffer = Buffer.from((BODIES[type] as (random: Random) => string)(random));
  const encoding = random() < 0.25 ? pick(random, Object.keys(ENCODINGS)) : undefined;
  if (encoding !== undefined && random() < 0.8) body = (ENCODINGS[encoding] as (bytes: Buffer) => Buffer)(body);
  if (random() < 0.15 && body.length > 0) body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
  if (random() < 0.15) body = body.subarray(0, Math.floor(random() * body.length));
  const isChunked = random() < 0.3;
  const length = Math.max(0, body.length + pick(random, [0, 0, 0, 0, 0, 1, 50_000, 100_000_000, -1]));
  if (isChunked) {
    const end = pick(random, ['0\r\n\r\n', '0\r\n\r\n', '', 'zz\r\n']);
    const chunk = body.length === 0 ? '' : `${body.length.toString(16)}\r\n`;
    body = Buffer.concat([Buffer.from(chunk), body, Buffer.from(`${chunk && '\r\n'}${end}`)]);
  }
  const head = [
    `${pick(random, TARGETS)}${pick(random, ['', '', '?commit=true', '?rows=0&fl=id', '?async=true', '?q=%ff'])} HTTP/1.1`,
    'Host: localhost',
    `Content-Type: ${type}`,
    isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
    ...(encoding === undefined ? [] : [`Content-Encoding: ${encoding}`]),
    ...(random() < 0.1 ? ['Expect: 100-continue'] : []),
  ].join('\r\n');
  const leaves = random() < 0.3;
  return { head, body, ...(leaves ? { leavesAt: Math.floor(random() * (body.length + 1)) } : {}) };
}

/** Resolves with the status of the answer; undefined if the connection was closed without one. */
function send(port: number, random: Random): Promise<string | undefined> {
  const { head, body, leavesAt } = hostileRequest(random);
  const socket = connect({ port, host: '127.0.0.1' });
  return new Promise((resolve) => {
    let text = '';
    socket.on('error', () => {}).on('close', () => resolve(undefined));
    socket.on('data', (bytes) => {
      text += bytes;
      const [, status] = /^(?:HTTP\/1.1 100 Continue\r\n\r\n)?HTTP\/1.1 ([2-5]\d\d) /.exec(text) ?? [];
      if (status === undefined) return;
      resolve(status);
      socket.destroy();
    });
    socket.write(`${head}\r\n\r\n`);
    const size = pick(random, [1_000, 16_384, 1_000_000]);
    const end = leavesAt ?? body.length;
    for (let at = 0; at < end; at += size) socket.write(body.subarray(at, Math.min(end, at + size)));
    if (leavesAt !== undefined) setImmediate(() => socket.destroy());
  });
}

/** Requests that are answered with success only if nothing is held: each needs all of something. */
const NEEDS_ALL: readonly (() => Promise<{ readonly status: number }>)[] = [
  () => ask(service.gateway, `${C}/analyze`, { body: `input.data=${'A'.repeat(30_000)}`, headers: FORM_BODY }),
  () => ask(service.gateway, `${C}/analyze?input.url=http://h.example/a.jpg`),
  () => ask(service.gateway, `${C}/select?rows=0`),
  () => ask(service.gateway, `${C}/update`, { body: JSON.stringify(MANY), headers: JSON_BODY }),
];
const MANY = Array.from({ length: 21 }, (_, i) => ({ id: `many-${i}` }));

it.each(Array.from({ length: scaledByChaos(4) }, (_, seed) => seed))(
  'every body is answered or its connection closed, and afterwards nothing is held: seed %d',
  async (seed) => {
    const random = createRandom(seed);
    for (let i = 0; i < REQUESTS; i++) {
      const status = await send(service.gateway.port, random);
      expect(status).not.toBe('500');
      // A response may come a moment before what its request held is free.
      for (const needsAll of NEEDS_ALL) while ((await needsAll()).status !== 200);
    }
    expect(service.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  },
);
