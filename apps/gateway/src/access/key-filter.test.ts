import { createHash, createHmac } from 'node:crypto';
import { ENDPOINTS, type Endpoint } from '@akin/contract';
import type { Scope } from '@akin/domain';
import { groupRule } from '@akin/modules/vectors';
import { createCollection, findCollection } from '@akin/store/database';
import { updateGroups } from '@akin/store/maintenance';
import { createKey, type NewKey } from '@akin/store/search';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, JSON_BODY, type TestResponse } from '../../test/start-gateway.ts';
import { bearer } from '../../test/start-keyed.ts';
import { type Service, startService } from '../../test/start-service.ts';

/** Has the documents of both tenants. */
const BOTH = '/api/cores/my-collection';
/** Has only those of tenant a. */
const OWN = '/api/cores/own';

const thumbnail = `data:image/webp;base64,${Buffer.from('RIFF0000WEBPVP8 ').toString('base64')}`;
const FILE = { source: '/photos', bytes: 6, file_hash: 1 };
const OF_A = [
  { id: 'a1', import: outputsOf('red'), title: 'red shoe', price: 10, labels: ['new'], location: '48,11', thumbnail },
  { id: 'a2', import: outputsOf('red-copy'), title: 'red boot', price: 20, labels: ['new', 'sale'], thumbnail },
  { id: 'a3', import: outputsOf('blue'), title: 'blue sandal', price: 30, labels: ['sale'], ...FILE },
  { id: 'a4', title: 'no picture', price: 40 },
].map((document) => ({ ...document, tenant: 'a' }));
const OF_B = [
  {
    id: 'b1',
    import: outputsOf('red'),
    title: 'hidden shoe',
    price: 5,
    labels: ['hidden'],
    location: '48,11',
    thumbnail,
  },
  {
    id: 'b2',
    import: outputsOf('red-copy'),
    title: 'hidden shoes red',
    price: 15,
    labels: ['hidden', 'new'],
    thumbnail,
  },
  { id: 'b3', import: outputsOf('green'), title: 'hidden sandal', price: 99, ...FILE },
  { id: 'b4', import: outputsOf('green'), title: 'hidden sandal', price: 98 },
].map((document) => ({ ...document, tenant: 'b', secret: 'hidden' }));

let service: Service;
let keyed: Pick<Service, 'gateway' | 'store' | 'log'> & {
  readonly keys: Readonly<Record<Scope, string>>;
  readonly make: typeof make;
};
/** Creates a key over HTTP. */
async function make(key: NewKey): Promise<string> {
  const response = await send(keyed.keys.admin, '/api/keys', key);
  if (response.status !== 201) throw new Error(response.text);
  return response.json.key;
}
let writer: string;
let reader: string;
const files = async ({ path }: { path: string }) => ({
  size: 6,
  modified: new Date(0),
  version: 'v1',
  type: 'image/jpeg',
  async *read() {
    yield Buffer.from(path.padEnd(6).slice(0, 6));
  },
  webp: async () => Buffer.from('RIFF0000WEBP'),
  analyze: () => Promise.reject(new Error('nobody analyzes it')),
});

beforeAll(async () => {
  service = await startService({
    access: { addressRate: 100_000 },
    originals: { open: files, forget: async () => undefined },
  });
  const [search, index, admin] = await Promise.all(
    (['search', 'index', 'admin'] as const).map(async (scope) => (await createKey(service.store, { scope })).text),
  );
  keyed = { ...service, keys: { search, index, admin } as Record<Scope, string>, make };
  await createCollection(keyed.store, 'own');
  const add = async (path: string, documents: unknown) => {
    const response = await send(keyed.keys.admin, `${path}/update?commit=true`, documents);
    expect([
      response.status,
      keyed.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields.err),
    ]).toEqual([200, []]);
  };
  await add(BOTH, [...OF_A, ...OF_B]);
  // The same fields, so that suggestions are the same.
  await add(OWN, [...OF_A, { id: 'x', secret: 'hidden' }]);
  await add(OWN, { delete: ['x'] });
  await add(BOTH, { delete: ['x'] });
  for (const name of ['my-collection', 'own']) {
    const collection = await findCollection(keyed.store, name);
    expect(await updateGroups(keyed.store, collection, groupRule(), { milliseconds: 60_000 })).toBe(true);
  }
  writer = await keyed.make({ scope: 'index', filter: 'tenant:a', set: ['tenant=a'] });
  reader = await keyed.make({ scope: 'search', filter: 'tenant:a' });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const get = (key: string, path: string, method = 'GET') => ask(keyed.gateway, path, { method, headers: bearer(key) });
const send = (key: string, path: string, body: unknown, method = 'POST') =>
  ask(keyed.gateway, path, { method, body: JSON.stringify(body), headers: { ...JSON_BODY, ...bearer(key) } });

/** A token as `docs/keys.md` describes it. */
function tokenOf(key: string, payload: unknown): string {
  const [, id, secret = ''] = key.split('_');
  const json = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const signed = `akin_${id}.${Buffer.from(json).toString('base64url')}`;
  const hash = createHash('sha256').update(secret).digest();
  return `${signed}.${createHmac('sha256', hash).update(signed).digest('base64url')}`;
}

const later = Math.floor(Date.now() / 1000) + 3_600;
const tokenA = () => tokenOf(keyed.keys.admin, { filter: 'tenant:a', expires: later });

/** What may differ between collections with the same documents. */
function shown({ status, text, json, headers }: TestResponse): unknown {
  if (json === undefined)
    return [
      status,
      headers['content-type'],
      headers.etag,
      text.replaceAll('my-collection', 'own').replaceAll(/QTime\D+\d+/g, ''),
    ];
  // The first search of a collection does not wait long until it is in memory.
  const {
    responseHeader: { QTime: _, distances: _d, searcher: _s, ...header } = {} as Record<string, unknown>,
    ...body
  } = json;
  const plain = JSON.stringify({ header, body })
    .replaceAll('my-collection', 'own')
    .replaceAll(/"requestId":"[^"]*"/g, '');
  return [status, JSON.parse(plain)];
}

const RANK = 'rank.by.id=a1&rank.mode=content';
const ATTEMPTS: readonly string[] = [
  'select?rows=100',
  'select?fq=tenant:b',
  'select?fq=*:*+OR+(tenant:b)&q=tenant:b',
  'select?q={!lucene+v=$x}&x=tenant:b',
  'select?fq={!tag=t}tenant:b&facet=true&facet.field={!ex=t}tenant&facet.field={!ex=t}labels&facet.query={!ex=t}price:5',
  'select?facet=true&facet.field=labels&facet.field=title&facet.field=tenant&facet.mincount=0&facet.limit=-1&facet.sort=index',
  'select?facet=true&facet.field=labels&facet.prefix=hid&facet.field=secret&facet.missing=true',
  'select?facet=true&facet.range=price&facet.range.start=0&facet.range.end=100&facet.range.gap=10&facet.range.other=all',
  'select?q=id:b1&fl=*,_version_',
  'select?q=text:hid*+OR+shoe~2&fl=id,score',
  'select?sort=price+asc&cursorMark=*&rows=2',
  'select?sort=geodist(location,48,11)+asc&rows=9&fl=id,dist:geodist(location,48,11)',
  `select?collapse=duplicates&${RANK}&rank.mode=duplicate`,
  'select?NOW=0&TZ=Asia/Tokyo&q.op=OR&df=tenant&q=b',
  'select?fq={!collapse+field=tenant+tag=t}&expand=true&expand.rows=9&facet=true&facet.field={!ex=t}tenant',
  `image?fq={!collapse+field=secret+nullPolicy=collapse}&${RANK}`,
  'select?group=true&group.field=tenant&group.ngroups=true&group.limit=9&group.sort=price+desc',
  `image?group=true&group.field=title&group.ngroups=true&group.limit=9&${RANK}`,
  'select?stats=true&stats.field=price&stats.field=title&fq={!tag=t}price:10&stats.field={!ex=t}price',
  'query?q=*:*&fq=secret:hidden',
  'select?q=hiden~1+OR+{!prefix+f=title}hid+OR+{!words+f=title+v=hidden}+OR+{!terms+f=id+v=b1}&fl=id,score',
  'select?q=_query_:"{!terms+f=tenant}a,b"+OR+_query_:"*:*"&sort=tenant+desc,price+desc&start=3&rows=3',
  'select?q={!geofilt+sfield=location+pt=48,11+d=1}&fl=id',
  'select?fq={!collapse+field=tenant}&expand=true&expand.q=tenant:b&expand.fq=tenant:b&expand.sort=price+desc',
  'select?q=tenant:b&debugQuery=true&debug=all&explainOther=id:b1',
  'select?q=tenant:a&fl=*,_version_,[explain],[docid],collapsed&rows=9&hl=true',
  'select?q=*:*&wt=xml&fl=id,title',
  'select?q=*:*&wt=html',
  'image?rank.by.id=b1&rank.region=0,0,0.5,0.5',
  'parts?rank.by.id=a1&rank.threshold=0&fl=id,parts_box&fq=tenant:b',
  'terms?terms.fl=title&terms.fl=tenant&fq=tenant:b&fq=*:*&terms.mincount=0',
  'terms?terms.fl=text&terms.prefix=hid&fq=*:*&terms.sort=index',
  'tag?tagging.input.id=a1&tagging.field=secret&tagging.max=100',
  'get?ids=b1,a1&fq=tenant:b&fl=*,score',
  `image?${RANK}&rows=100&facet=true&facet.query=secret:hidden&facet.query=*:*&facet.field=tenant`,
  `image?${RANK}&rank.smartfilter=high&start=1`,
  'image?rank.by.id=a1&rank.by.id=b1&rank.weights=1,1',
  'color?rank.by.hex=10B020&rows=100',
  'duplicate?rank.by.id=a1&rank.threshold=0.1',
  'parts?rank.by.id=b1',
  'get?ids=a1,b1,b2,nobody&fl=id,tenant,secret',
  'get?id=b1&fl=id,content_descriptor',
  'terms?terms.fl=labels&terms.fl=title&terms.fl=text&terms.fl=secret&terms.limit=-1',
  'tag?tagging.input.id=b1',
  'tag?tagging.input.id=a1&fq=tenant:b&tagging.field=title',
  'groups?group.id=b1',
  'groups?group.id=a1&fq=tenant:b',
  'groups?fl=*&group.limit=100',
  'thumbnail?id=a1',
  'thumbnail?id=b1',
  'schema',
  'admin/ping',
];
/** They need the scope index. */
const WRITER_ATTEMPTS: readonly string[] = [
  'groups/decisions',
  'original?id=a3',
  'original?id=b3',
  'export?rows=1000',
  'export?q=tenant:b&rows=1000',
  'update?commit=true',
];

describe('a key with a filter', () => {
  it.each(ATTEMPTS)('is answered as if there were no other documents: %s', async (request) => {
    const alone = shown(await get(keyed.keys.index, `${OWN}/${request}`));
    for (const key of [reader, writer, tokenA()]) {
      const answer = await get(key, `${BOTH}/${request}`);
      expect(shown(answer)).toEqual(alone);
    }
  });

  it.each(WRITER_ATTEMPTS)('is answered as if there were no other documents: %s', async (request) => {
    const alone = await get(keyed.keys.index, `${OWN}/${request}`);
    const answer = await get(writer, `${BOTH}/${request}`);
    expect([answer.status, answer.text.includes('hidden'), answer.text.split('\n').length]).toEqual([
      alone.status,
      false,
      alone.text.split('\n').length,
    ]);
  });

  it('sees nothing more with a cursor of another key', async () => {
    const page = async (key: string, mark: string) =>
      (await get(key, `${BOTH}/select?sort=price+desc&rows=1&cursorMark=${encodeURIComponent(mark)}`)).json;
    const { nextCursorMark } = await page(keyed.keys.admin, '*');
    expect((await page(reader, nextCursorMark)).response.docs).toMatchObject([{ id: 'a4' }]);
    const first = await get(keyed.keys.index, `${BOTH}/export?rows=1`);
    const rest = await get(writer, `${BOTH}/export?rows=1000&cursor=${first.headers['x-akin-cursor']}`);
    expect(rest.text).not.toContain('hidden');
  });

  it('may call no endpoint that tells more', async () => {
    const tried = new Set([...ATTEMPTS, ...WRITER_ATTEMPTS].map((one) => one.split('?')[0]));
    for (const [name, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
      if (endpoint.scope === 'anyone') continue;
      const path = endpoint.path.replace('/{collection}/', '').replace(/\{[^}]+\}/g, 'x');
      if (endpoint.obeysKeyFilter) {
        // What follows tests the other updates and decisions, and an analysis knows no documents.
        const isTried = tried.has(path) || /^(update|analyze|operations$)/.test(path);
        expect([name, isTried || 'add requests to ATTEMPTS that look for hidden documents']).toEqual([name, true]);
        continue;
      }
      const own = endpoint.path.replace('{collection}', 'my-collection').replace(/\{[^}]+\}/g, 'x');
      const address =
        { service: '', collections: '/api/cores', legacy: '/solr' }[endpoint.mount ?? 'collections'] + own;
      const { status } = await get(writer, address, endpoint.methods[0]);
      expect([name, address, status]).toEqual([name, address, 403]);
    }
  });
});

describe('changes by a key with a filter', () => {
  const update = (body: unknown, query = 'commit=true', key = writer) => send(key, `${BOTH}/update?${query}`, body);
  const read = async (id: string) => (await get(keyed.keys.admin, `${BOTH}/get?id=${id}&fl=*,_version_`)).json.doc;

  it('get the fields that it sets, whatever was sent for them', async () => {
    for (const document of [
      { id: 'new', title: 'mine', tenant: 'b' },
      { id: 'new', title: { set: 'mine' }, tenant: { set: 'b' } },
      { id: 'new', price: { inc: 1 }, title: 'mine', tenant: null },
      '{"id":"new","title":"mine","tenant":"b","tenant":{"add":"b"}}',
    ]) {
      const body = typeof document === 'string' ? document : JSON.stringify(document);
      const sent = await ask(keyed.gateway, `${BOTH}/update?commit=true`, {
        body,
        headers: { ...JSON_BODY, ...bearer(writer) },
      });
      expect([body, sent.status, (await read('new')).tenant]).toEqual([body, 200, 'a']);
    }
    const xml = await ask(keyed.gateway, '/solr/my-collection/update/xml?commit=true', {
      body: '<add><doc><field name="id">new</field><field name="tenant">b</field></doc></add>',
      headers: { 'content-type': 'text/xml', ...bearer(writer) },
    });
    expect([xml.status, (await read('new')).tenant]).toEqual([200, 'a']);
    expect((await update({ delete: ['new'] })).status).toBe(200);
    expect(await read('new')).toBeNull();
  });

  it.each<[string, unknown, string]>([
    ['a document over another one', { id: 'b1', title: 'taken' }, 'commit=true'],
    ['an atomic update', { id: 'b1', price: { inc: 1 } }, 'commit=true'],
    ['a delete', { delete: ['b1'] }, 'commit=true'],
    ['several at once, with a good one', [{ id: 'fresh' }, { id: 'b1' }], 'commit=true'],
    ['an expected version', { id: 'b1', _version_: 1 }, 'commit=true'],
    ['bad documents left out', [{ id: 'fresh' }, { id: 'b1' }], 'maxErrors=5&commit=true'],
  ])('are refused outside: %s', async (_, body, query) => {
    const before = await read('b1');
    const { status, text } = await update(body, query);
    expect([status, text]).toEqual([
      409,
      expect.stringContaining('belongs to a document that this key may not change'),
    ]);
    expect(text).not.toMatch(/hidden|version [0-9]/);
    expect([await read('b1'), await read('fresh')]).toEqual([before, null]);
  });

  it.each([
    '*:*',
    'secret:hidden OR tenant:a',
    '*:*) OR (*:*',
    '*:*" OR *:* OR "',
    '{!terms f=id}b1,b2',
    '{!lucene v=*:*}',
  ])('delete by query only what matches: %s', async (query) => {
    await update({ id: 'a9', title: 'to delete' });
    const response = await update({ delete: { query } });
    expect([200, 400]).toContain(response.status);
    const left = await get(keyed.keys.admin, `${BOTH}/select?q=tenant:b&rows=0`);
    expect(left.json.response.numFound).toBe(OF_B.length);
    await update({ delete: ['a9'] });
    await send(keyed.keys.admin, `${BOTH}/update?commit=true`, OF_A);
  });

  it('are refused without a word about the filter', async () => {
    const queries = ['nowhere:1', 'price:cheap', 'title:(', `title:a${'~9'.repeat(3)}`];
    const wrong = { delete: queries.map((query) => ({ query })) };
    const { status, json, text } = await update(wrong, 'maxErrors=-1');
    expect([status, json.responseHeader.errors.map(({ id }: { id: string }) => id)]).toEqual([200, queries]);
    expect(text + (await update(wrong)).text).not.toMatch(/tenant|_query_/);
    const deep = await update({ delete: { query: `${'('.repeat(100)}title:a${')'.repeat(100)}` } });
    expect([deep.status, deep.json.error.msg]).toEqual([
      400,
      expect.stringContaining('next to the filter of this key'),
    ]);
    await createCollection(keyed.store, 'empty');
    const empty = await send(writer, '/api/cores/empty/update?commit=true', { delete: { query: '*:*' } });
    expect([empty.status, empty.text.includes('tenant')]).toEqual([200, false]);
  });

  it('wait for pending changes that may take an id away', async () => {
    const asAdmin = (body: unknown) => send(keyed.keys.admin, `${BOTH}/update`, body);
    await asAdmin({ id: 'soon', tenant: 'b' });
    const refused = await update({ id: 'soon', title: 'mine' }, '');
    expect([refused.status, refused.headers['retry-after']]).toEqual([409, '5']);
    // Its own pending change is no reason to wait.
    expect((await update({ id: 'mine', title: 'one' }, '')).status).toBe(200);
    expect((await update({ id: 'mine', title: { set: 'two' } })).status).toBe(200);
    expect(await read('soon')).toMatchObject({ tenant: 'b' });
    expect((await update({ id: 'soon', title: 'mine' })).headers['retry-after']).toBeUndefined();
    await send(keyed.keys.admin, `${BOTH}/update?commit=true`, { delete: ['soon', 'mine'] });
  });

  it('are listed without those of others', async () => {
    await send(keyed.keys.admin, `${BOTH}/update`, { id: 'soon', tenant: 'b' });
    await update([{ id: 'mine' }, { id: 'mine too', title: { set: 'x' } }], '');
    const listed = async (key: string, query: string) => {
      const { status, json } = await get(key, `${BOTH}/operations?${query}`);
      return [status, json.operations.map(({ id }: { id: string }) => id)];
    };
    expect(await listed(writer, 'state=ready')).toEqual([200, ['mine', 'mine too']]);
    expect(await listed(writer, 'limit=1')).toEqual([200, ['mine']]);
    expect(await listed(await keyed.make({ scope: 'index', filter: 'tenant:a' }), '')).toEqual([200, []]);
    await send(keyed.keys.admin, `${BOTH}/update?commit=true`, { delete: ['soon', 'mine', 'mine too'] });
  });

  it('define fields', async () => {
    const define = (key: string) => send(key, `${BOTH}/schema`, { field: ['later:double'] });
    const blind = await keyed.make({ scope: 'index', filter: 'tenant:a' });
    expect((await define(blind)).status).toBe(403);
    expect((await define(writer)).status).toBe(200);
  });

  it('of groups name only its own documents', async () => {
    const decide = (...ids: string[]) => send(writer, `${BOTH}/groups/decisions`, { ids, decision: 'different' });
    const [outside, nobody] = [await decide('a1', 'b1'), await decide('a1', 'nobody')];
    expect([outside.status, outside.json.error.msg]).toEqual([404, nobody.json.error.msg.replace('nobody', 'b1')]);
    await send(keyed.keys.admin, `${BOTH}/groups/decisions`, { ids: ['b1', 'b2', 'a1'], decision: 'different' });
    expect((await get(writer, `${BOTH}/groups/decisions`)).json.decisions).toEqual([]);
  });

  it('are refused without fields to set, and with a token', async () => {
    const blind = await keyed.make({ scope: 'index', filter: 'tenant:a' });
    const { status, json } = await update({ id: 'a1' }, '', blind);
    expect([status, json.error.msg]).toEqual([403, expect.stringContaining('sets no fields')]);
    expect((await update({ delete: { query: '*:*' } }, '', blind)).status).toBe(403);
    expect((await update({ id: 'a1' }, '', tokenOf(writer, { filter: '*:*', expires: later }))).status).toBe(403);
  });
});

describe('a key with a filter is not created', () => {
  it.each([
    [{ filter: 'tenant:(a' }, 'filter'],
    [{ filter: '' }, 'filter is empty'],
    [{ filter: 5, fq: 'x' }, '"fq" is unknown'],
    [{ filter: 'tenant:a', scope: 'admin' }, 'search or index'],
    [{ set: ['tenant=a'] }, 'give both'],
    [{ filter: 'tenant:a', set: ['tenant=a'], scope: 'search' }, 'scope must be index'],
    [{ filter: 'tenant:a', set: ['tenant=b'] }, 'does not follow from'],
    [{ filter: 'tenant:a AND price:1', set: ['tenant=a'] }, 'does not follow from'],
    [{ filter: 'tenant:a', set: ['tenant=a', 'tenant=a'] }, 'given twice'],
    [{ filter: 'id:a', set: ['id=a'] }, 'not a field that a key can set'],
  ])('from %j', async (body, message) => {
    const { status, json } = await send(keyed.keys.admin, '/api/keys', { scope: 'index', ...body });
    expect([status, json.error.msg]).toEqual([400, expect.stringContaining(message)]);
  });

  it('from a filter that is too long', async () => {
    const filter = 'x'.repeat(4_001);
    const { json } = await send(keyed.keys.admin, '/api/keys', { scope: 'search', filter });
    expect(json.error.msg).toContain('1 to 4000 characters');
    expect(
      await ask(keyed.gateway, `${BOTH}/select`, {
        headers: bearer(tokenOf(keyed.keys.admin, { filter, expires: later })),
      }),
    ).toMatchObject({ status: 400 });
  });

  it('but listed with it', async () => {
    const { keys } = (await get(keyed.keys.admin, '/api/keys')).json;
    expect(keys).toContainEqual(expect.objectContaining({ filter: 'tenant:a', set: ['tenant=a'], scope: 'index' }));
  });

  it('a filter that does not fit the collection matches nothing, or is an error', async () => {
    const select = async (filter: string) => get(await keyed.make({ scope: 'search', filter }), `${BOTH}/select`);
    expect((await select('nowhere:x')).json.response.numFound).toBe(0);
    expect((await select('*:* -nowhere:x')).json.response.numFound).toBe(0);
    const misfit = await select('price:cheap');
    expect([misfit.status, misfit.json.error.msg]).toEqual([
      403,
      'The filter of this key does not fit the fields of this collection.',
    ]);
  });
});

describe('a search token', () => {
  const count = async (token: string) => {
    const { status, json } = await get(token, `${BOTH}/select?rows=0`);
    return json.response?.numFound ?? [status, json.error.msg];
  };

  it('sees what its filter and that of its key match, with the rights of a search', async () => {
    expect(await count(tokenA())).toBe(OF_A.length);
    expect(await count(tokenOf(reader, { filter: 'price:[20 TO *]', expires: later }))).toBe(3);
    expect(await count(tokenOf(reader, { filter: 'tenant:b', expires: later }))).toBe(0);
    expect(await count(tokenOf(keyed.keys.admin, { expires: later, filter: 'title:"blaue schöne 👟" OR *:*' }))).toBe(
      8,
    );
    for (const [path, method] of [
      ['/api/keys'],
      [`${BOTH}/update`, 'POST'],
      [`${BOTH}/export`],
      ['/metrics'],
    ] as const) {
      expect((await get(tokenOf(keyed.keys.admin, { filter: '*:*', expires: later }), path, method)).status).toBe(403);
    }
    const only = await keyed.make({ scope: 'search', collections: ['own'] });
    expect((await get(tokenOf(only, { filter: '*:*', expires: later }), `${BOTH}/select`)).status).toBe(403);
  });

  it.each<[string, (token: string) => string]>([
    ['with another payload', (token) => token.replace(/\.\w{4}/, '.AAAA')],
    ['with another signature', (token) => token.replace(/.{43}$/, 'A'.repeat(43))],
    ['of another key', (token) => token.replace(/^akin_\w{12}/, reader.slice(0, 17))],
    ['of no key', (token) => token.replace(/^akin_\w{12}/, 'akin_000000000000')],
    ['with more behind it', (token) => `${token}.x`],
    ['huge', (token) => token.replace('.', `.${'A'.repeat(9_000)}`)],
    [
      'signed with the id alone',
      (token) => token.replace(/\.[^.]+$/, `.${createHmac('sha256', '').update('').digest('base64url')}`),
    ],
  ])('is refused %s', async (_, change) => {
    expect(await count(change(tokenA()))).toEqual([401, expect.stringMatching(/^This key is unknown or was revoked/)]);
  });

  it('ends at its time, and with its key', async () => {
    expect(await count(tokenOf(keyed.keys.admin, { filter: '*:*', expires: later - 7_200 }))).toEqual([
      401,
      expect.stringContaining('has expired'),
    ]);
    const parent = await keyed.make({ scope: 'search' });
    const token = tokenOf(parent, { filter: 'tenant:a', expires: later });
    expect(await count(token)).toBe(OF_A.length);
    await ask(keyed.gateway, `/api/keys/${parent.slice(5, 17)}`, {
      method: 'DELETE',
      headers: bearer(keyed.keys.admin),
    });
    expect(await count(token)).toEqual([401, expect.any(String)]);
  });

  it.each([
    '{}',
    'not JSON',
    '{"filter":"*:*"}',
    '{"filter":"*:*","expires":9999999999,"scope":"admin"}',
    '{"filter":"tenant:a","filter":"*:*","expires":9999999999}',
    '{"filter":["*:*"],"expires":9999999999}',
    '{"filter":"tenant:(","expires":9999999999}',
    '{"filter":"*:*","expires":-1}',
    '{"filter":"*:*","expires":99999999999999999999}',
    '{"filter":"\\ud800","expires":9999999999}',
  ])('is refused with other contents: %s', async (payload) => {
    expect(await count(tokenOf(keyed.keys.admin, payload))).toEqual([400, expect.stringContaining('token')]);
  });

  it('is made as docs/keys.md says', () => {
    expect(tokenOf(`akin_0123456789ab_${'0'.repeat(64)}`, { filter: 'tenant:a', expires: 2_000_000_000 })).toBe(
      'akin_0123456789ab.eyJmaWx0ZXIiOiJ0ZW5hbnQ6YSIsImV4cGlyZXMiOjIwMDAwMDAwMDB9.c_qGzQzI2SZAN2qu5HQmG6bbJrKMJrdxV6iZZXwt6Ag',
    );
  });
});
