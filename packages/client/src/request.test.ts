import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { createClient } from './client.ts';
import {
  AkinRequestError,
  BadRequestError,
  BusyError,
  createRequestError,
  NoResponseError,
  NotFoundError,
} from './errors.ts';
import { filter } from './filter.ts';
import type { TypedCollection } from './typed-collection.ts';

/** Responses that the server sends, in order: status and Retry-After. Then 200. */
let responses: [status: number, retryAfter?: string][];
/** So many requests get no response. */
let closes: number;
/** The addresses and bodies of all requests. */
let asked: string[];
let bodies: string[];
/** The body of all responses. */
let answer: string;
let server: Server;
let baseUrl: string;
let shop: TypedCollection;
beforeEach(async () => {
  responses = [];
  closes = 0;
  asked = [];
  bodies = [];
  answer = '{"error":{"msg":"said"},"documents":1}';
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (closes-- > 0) {
      request.socket.destroy();
      return;
    }
    const [status, retryAfter] = responses.shift() ?? [200];
    if (retryAfter) response.setHeader('retry-after', retryAfter);
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(status).end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  shop = createClient({ baseUrl }).collection('shop');
});
/** The values of a parameter in all requests. */
const sent = (name: string) => asked.flatMap((url) => new URL(url, baseUrl).searchParams.getAll(name));
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

it('repeats a request that akin could not accept, as often as configured', async () => {
  const shop = createClient({ baseUrl, retries: 2 }).collection('shop');
  responses = [[429, '0.01'], [503, '0.01'], [200]];
  expect(await shop.status()).toMatchObject({ documents: 1 });
  responses = [[429, '0.01'], [200]];
  await shop.add({ id: '1' });
  expect(asked).toHaveLength(5);
  responses = [[429, '0.01'], [429, '0.01'], [429, '0.01'], [200]];
  await expect(shop.status()).rejects.toThrow(BusyError);
  expect(asked).toHaveLength(8);
});

it('repeats a GET whose connection closes, once, and no change', async () => {
  closes = 1;
  expect(await shop.status()).toMatchObject({ documents: 1 });
  closes = 2;
  await expect(shop.status()).rejects.toThrow(NoResponseError);
  closes = 1;
  await expect(shop.add({ id: '1' })).rejects.toThrow(NoResponseError);
  expect(asked).toHaveLength(5);
});

it('does not repeat a change that may be accepted, a wrong request, or one with a long wait', async () => {
  responses = [[503, '0.01'], [429, '3600'], [429], [400, '0.01'], [404, '0.01']];
  await expect(shop.add({ id: '1' })).rejects.toThrow(BusyError);
  await expect(shop.status()).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3600, message: 'said' });
  await expect(shop.status()).rejects.toThrow(BusyError);
  await expect(shop.status()).rejects.toThrow(BadRequestError);
  await expect(shop.status()).rejects.toThrow(NotFoundError);
  expect(asked).toHaveLength(5);
  const nobody = createClient({ baseUrl: 'http://127.0.0.1:9' });
  await expect(nobody.collections()).rejects.toThrow(NoResponseError);
});

it('stops waiting when its signal aborts', async () => {
  const shop = createClient({ baseUrl }).collection<{ price: number }>('shop');
  responses = [[429, '50']];
  const stop = new AbortController();
  const search = shop.search('red', { signal: stop.signal });
  server.once('request', () => setImmediate(() => stop.abort(new Error('enough'))));
  await expect(search).rejects.toThrow(/enough|abort/);
});

it('ranks at the endpoint of a module, or by rank.mode where the module has none', async () => {
  for (const mode of ['content', 'duplicate', 'texture']) await shop.rank(mode, { rows: 1 });
  expect(asked).toEqual([
    '/api/cores/shop/image?rows=1',
    '/api/cores/shop/duplicate?rows=1',
    '/api/cores/shop/select?rank.mode=texture&rows=1',
  ]);
});

it('deletes one id, several ids, or what matches a filter', async () => {
  await shop.delete('1');
  await shop.delete(['1', '2']);
  await shop.delete([]);
  await shop.delete({ filter: filter`brand:${'Ada'}` });
  // akin refuses an empty query. The text undefined would be one.
  await shop.delete({} as never);
  expect(bodies.map((body) => JSON.parse(body).delete)).toEqual([
    ['1'],
    ['1', '2'],
    [],
    { query: 'brand:"Ada"' },
    { query: '' },
  ]);
});

it('sends whole numbers beyond 2^53 digit for digit, and the rest as JSON.stringify', async () => {
  const plain = {
    id: '1"',
    at: new Date('2024-02-29T12:00:00Z'),
    image: new URL('http://a.example/b.jpg'),
    labels: ['a', undefined],
    gone: undefined,
    none: null,
    price: { set: Number.NaN },
    yes: true,
  };
  await shop.add({ ...plain, code: 2n ** 62n, views: { inc: -(2n ** 60n) } });
  const rest = '"code":4611686018427387904,"views":{"inc":-1152921504606846976}';
  expect(bodies).toEqual([`[${JSON.stringify(plain).slice(0, -1)},${rest}}]`]);
});

it('reads whole numbers beyond 2^53 as their digits, so that every answer can be sent on as JSON', async () => {
  answer = '{"responseHeader":{},"response":{"docs":[{"id":"1","code":-4611686018427387905,"views":7,"price":1e20}]}}';
  const { documents } = await shop.similar({ id: '2' });
  expect(JSON.stringify(documents)).toBe(
    '[{"id":"1","code":"-4611686018427387905","views":7,"price":100000000000000000000}]',
  );
  expect(JSON.parse(JSON.stringify(await shop.select()))).toMatchObject({ response: { docs: documents } });
});

it('asks for no outputs of the analysis unless they are named, for the score where documents are ranked', async () => {
  interface Shoe {
    brand: string;
    'net, weight'?: number;
  }
  const shop = createClient({ baseUrl }).collection<Shoe>('shop');
  answer = '{"responseHeader":{},"response":{"docs":[]}}';
  await shop.similar({ id: '2' });
  await shop.similar({ id: '2' }, { fields: ['brand', 'net, weight', 'color_names'] });
  await shop.similar({ id: '2' }, { fields: ['*', 'content_rerank'], sort: 'brand asc' });
  await shop.search('ada');
  await shop.search('ada', { sort: 'brand asc' });
  await shop.search();
  await shop.search('ada', { wire: { fl: 'color_*' } });
  await shop.search('ada', { fields: ['brand'], wire: { fl: 'color_*' } });
  await shop.get('1');
  await shop.get('1', { fields: [] });
  expect(sent('fl')).toEqual([
    'id,score,*,-outputs',
    'id,score,brand,net\\,\\ weight,color_names',
    'id,score,*,-outputs,content_rerank',
    'id,score,*,-outputs',
    'id,*,-outputs',
    'id,*,-outputs',
    'color_*',
    'id,score,brand',
    'id,*,-outputs',
    'id',
  ]);
});

it('gives back the figures and the other documents that wire asks for, and groups', async () => {
  const response = { docs: [{ id: '1' }], numFound: 1, numFoundExact: true };
  const expanded = { a: { docs: [{ id: '2' }], numFound: 3 } };
  answer = JSON.stringify({ responseHeader: {}, response, expanded, stats: { stats_fields: { price: { max: 1.5 } } } });
  const found = await shop.search('red', {
    collapse: 'sku',
    wire: { expand: true, stats: true, 'stats.field': 'price' },
  });
  expect(found.stats?.price?.max).toBe(1.5);
  expect(found.expanded).toEqual({ a: { total: 3, documents: [{ id: '2' }] } });
  expect((await shop.stats(['price'], { filter: 'a:1' })).price.max).toBe(1.5);
  expect(asked.at(-1)).toBe('/api/cores/shop/select?q=*%3A*&fl=id&stats=true&stats.field=price&fq=a%3A1&rows=0');
  const groups = [{ groupValue: 'a', doclist: expanded.a }];
  answer = JSON.stringify({ responseHeader: {}, grouped: { sku: { matches: 9, ngroups: 4, groups } } });
  expect(await shop.search('red', { group: { field: 'sku', limit: 2 } })).toMatchObject({
    total: 4,
    documents: [{ id: '2' }],
    groups: [{ value: 'a', total: 3, documents: [{ id: '2' }] }],
  });
});

it('says the names of its options in errors, and which option is meant', async () => {
  const said = 'Parameter rank.by.hex: "x". Parameter rows must be 5. Parameters start and rows are. Write rows.';
  answer = JSON.stringify({ error: { msg: said, details: [1] } });
  responses = [[400], [400]];
  const message = 'Parameter color: "x". Parameter limit must be 5. Parameters offset and limit are. Write rows.';
  const error = await shop.similar({ color: 'x' }).catch((error) => error);
  expect([error instanceof BadRequestError, error.message, error.details]).toEqual([true, message, [1]]);
  await expect(shop.select()).rejects.toThrow(said);
  const unknown = (options: object) => shop.search('red', options).catch(String);
  expect(await unknown({ rows: 3 })).toBe('TypeError: There is no option rows: use limit.');
  expect(await unknown({ 'rank.weights': '1' })).toContain(
    'rank.weights: parameters of the HTTP interface go into wire',
  );
  expect(await unknown({ rows: undefined })).not.toContain('TypeError: There is');
  await expect(shop.similar({ colour: '#fff' } as never)).rejects.toThrow('There is no option colour');
  await expect(shop.similar({})).rejects.toThrow('needs id, file, url, color, text or outputs');
});

it('has a name for each kind of error', () => {
  const named = [0, 400, 401, 404, 409, 422, 429, 503, 507].map((status) => createRequestError(status, 'said'));
  for (const error of named) expect([error.name, `${error}`]).toEqual([error.constructor.name, `${error.name}: said`]);
  expect(createRequestError(500, 'said').name).toBe('AkinRequestError');
  expect(named.every((error) => error instanceof AkinRequestError)).toBe(true);
});

it.each(['127.0.0.1:8983', 'localhost:8983', 'http://', 'http://[', 'ftp://akin.example'])(
  'takes no base URL %j',
  (url) => {
    expect(() => createClient({ baseUrl: url })).toThrow('baseUrl must be a URL such as http://127.0.0.1:8983');
  },
);

it('counts only values that are there', async () => {
  answer = '{"responseHeader":{},"response":{"docs":[]},"facet_counts":{"facet_fields":{"brand":["Ada",2]}}}';
  expect(await shop.facets(['brand'])).toEqual({ brand: [{ value: 'Ada', count: 2 }] });
  await shop.similar({ color: '#fff' }, { facets: ['brand'] });
  const others = { facet_queries: { 'price:[* TO 50]': 3 }, facet_ranges: { price: { counts: ['0', 3], gap: 50 } } };
  answer = JSON.stringify({
    responseHeader: {},
    response: { docs: [] },
    facet_counts: { facet_fields: {}, ...others },
  });
  expect(await shop.search('*:*', { wire: { facet: true, 'facet.query': 'price:[* TO 50]' } })).toMatchObject({
    facets: {},
    facetQueries: others.facet_queries,
    facetRanges: others.facet_ranges,
  });
  await shop.search('*:*', { facets: ['brand'], wire: { 'facet.mincount': 0 } });
  expect(sent('facet.mincount')).toEqual(['1', '1', '0']);
});

it('adds a picture from a path, from bytes, and from a URL, which akin fetches', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'akin-client-'));
  const file = join(folder, 'red shoe.jpg');
  await writeFile(file, 'JPEG');
  const shop = createClient({ baseUrl }).collection<{ brand: string }>('shop');
  await shop.addPicture({ id: '1', brand: 'Ada' }, file, { wait: true });
  await shop.addPicture({ id: '2', brand: 'Ada' }, new TextEncoder().encode('GIF'));
  await shop.addPicture({ id: '3', brand: 'Ada' }, new URL('https://example.org/3.jpg'));
  expect(asked).toEqual(['/api/cores/shop/update?commit=true', '/api/cores/shop/update', '/api/cores/shop/update']);
  expect(bodies[0]).toMatch(/\{"id":"1","brand":"Ada"\}.*filename="red shoe.jpg".*JPEG/s);
  expect(bodies[1]).toMatch(/\{"id":"2","brand":"Ada"\}.*GIF/s);
  expect(bodies[2]).toBe('[{"id":"3","brand":"Ada","image":"https://example.org/3.jpg"}]');
  await expect(shop.addPicture({ id: '4', brand: 'Ada' }, `${file}.none`)).rejects.toThrow('ENOENT');
  await rm(folder, { recursive: true });
});

it('takes a base URL that ends with a slash', async () => {
  const client = createClient({ baseUrl: `${baseUrl}/` });
  await client.collections();
  await client.collection('shop').status();
  expect(asked).toEqual(['/api/cores', '/api/cores/shop']);
  expect(client.collection('shop').thumbnailAddress('1')).toBe(`${baseUrl}/api/cores/shop/thumbnail?id=1`);
});

it('shows no key when it is printed', () => {
  const shop = createClient({ baseUrl, key: 'akin_secret' }).collection('shop');
  expect(inspect(shop, { showHidden: true })).not.toContain('akin_secret');
});

it('stops to listen as soon as its signal aborts, also while it waits to connect again', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  try {
    const controller = new AbortController();
    const events = createClient({ baseUrl }).collection('shop').events({ signal: controller.signal });
    const first = events.next();
    while (jest.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await first).toEqual({ done: true, value: undefined });
    expect(asked).toHaveLength(1);
  } finally {
    jest.useRealTimers();
  }
});

it('sends a region for each picture', async () => {
  await shop.similar({ id: '1', region: [0.5, 0, 0.5, 1] }).catch(() => {});
  await shop.similar({ id: ['1', '2'], region: [undefined, [0, 0, 0.25, 0.5]] }).catch(() => {});
  expect(sent('rank.region')).toEqual(['0.5,0,0.5,1', '', '0,0,0.25,0.5']);
});
