import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const BYTES = Buffer.from('0123456789');
/** What was indexed of it. */
const FILE = { bytes: 10, file_hash: 7 };
const PATH = '/api/cores/my-collection/original';
let service: Service;
/** The collection that the folder was indexed into. */
let folderOf: string | undefined = 'my-collection';

beforeAll(async () => {
  service = await startService({
    originals: {
      open: async ({ collection, source, path, bytes, hash }) =>
        collection === folderOf && source === '/photos' && path === 'a b.jpg' && bytes === 10 && hash === 7
          ? {
              ...{ size: BYTES.length, modified: new Date(0), version: 'v1', type: 'image/jpeg' },
              async *read(start: number, end: number) {
                yield BYTES.subarray(start, end + 1);
              },
              webp: async () => Buffer.from('RIFF0000WEBP'),
              analyze: () => Promise.reject(new Error('nobody analyzes it')),
            }
          : undefined,
      forget: async (collection) => {
        if (collection === folderOf) folderOf = undefined;
      },
    },
  });
  const documents = [
    { id: 'a b.jpg', source: '/photos', ...FILE },
    { id: 'posted', source: '/photos', path: 'a b.jpg' },
    { id: 'other.jpg', source: '/elsewhere', ...FILE },
    { id: 'bare' },
  ];
  await postJson(service.gateway, '/api/cores/my-collection/update?commit=true', documents);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const get = (headers: Record<string, string> = {}, query = '?id=a%20b.jpg', method = 'GET') =>
  ask(service.gateway, `${PATH}${query}`, { method, headers });

describe('the original of a document', () => {
  it('is complete, and no browser treats it as a page or shows it to another site', async () => {
    const { status, text, headers } = await get();
    expect([status, text]).toEqual([200, '0123456789']);
    expect(headers).toMatchObject({
      ...{ 'content-type': 'image/jpeg', 'content-length': '10', etag: '"v1"', 'accept-ranges': 'bytes' },
      ...{ 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' },
      'cross-origin-resource-policy': 'same-origin',
    });
    const head = await get({}, undefined, 'HEAD');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '10']);
    expect((await get({ 'if-none-match': '"v1"' })).status).toBe(304);
    const webp = await get({}, '?id=a%20b.jpg&format=webp');
    expect([webp.headers['content-type'], webp.headers.etag]).toEqual(['image/webp', '"v1-webp"']);
  });

  it.each([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=1-2,4-5', 200, '0123456789', undefined],
    ['bytes=4-2', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
  ])('is sent in parts: %s', async (range, expected, part, contentRange) => {
    const { status, text, headers } = await get({ range });
    expect([status, text, headers['content-range']]).toEqual([expected, part, contentRange]);
    expect((await get({ range, 'if-range': '"v0"' })).text).toBe('0123456789');
  });

  it('is refused to pages of other sites', async () => {
    for (const site of ['cross-site', 'same-site']) expect((await get({ 'sec-fetch-site': site })).status).toBe(403);
    expect((await get({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it.each(['?id=other.jpg', '?id=posted', '?id=bare', '?id=nobody'])('does not exist: %s', async (query) => {
    expect((await get({}, query)).status).toBe(404);
  });

  it('does not exist in another collection, nor in a later one of the same name', async () => {
    const { gateway } = service;
    const isFound = async (name: string) => {
      await ask(gateway, `/api/cores/${name}`, { method: 'PUT' });
      const document = { id: 'a b.jpg', source: '/photos', ...FILE };
      await postJson(gateway, `/api/cores/${name}/update?commit=true`, document);
      return (await ask(gateway, `/api/cores/${name}/original?id=a%20b.jpg`)).status;
    };
    expect([await isFound('tenant'), await isFound('my-collection')]).toEqual([404, 200]);
    await ask(gateway, '/api/cores/my-collection', { method: 'DELETE' });
    expect(await isFound('my-collection')).toBe(404);
  });
});
