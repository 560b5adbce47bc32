import { beforeAll, describe, expect, it } from '@jest/globals';
import { ask, postJson } from '../../test/start-gateway.ts';
import { useCollection, useService } from '../../test/start-service.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const service = useService();

const { post, send } = updatedService(service);
const get = async (id: string, fl: string) => (await send(`/solr/my-collection/get?id=${id}&fl=${fl}`)).json.doc;
const select = async (query: string) => (await send(`/solr/my-collection/select?q=${query}`)).json.response.docs;
const refusal = ({ status, json }: { status: number; json: { error: { msg: string } } }) => [status, json.error.msg];
const xml = (body: string, path = `${SOLR}?commit=true`) =>
  send(path, { body, headers: { 'content-type': 'application/xml' } });

// In Solr's guide several fields have several values, in akin only one: its examples are run once for each.
const BEFORE = { id: 'mydoc', price: 10, popularity: 42 };
const LISTS = [
  [{ add: ['toys', 'games'] }, ['kids'], ['kids', 'toys', 'games']],
  [{ 'add-distinct': 'under_10' }, ['under_5', 'under_10'], ['under_5', 'under_10']],
  [{ remove: 'a123x' }, ['a123x'], undefined],
  [
    { remove: ['free_to_try', 'on_sale'] },
    ['free_to_try', 'buy_now', 'clearance', 'on_sale'],
    ['buy_now', 'clearance'],
  ],
] as const;

describe("Solr's examples of atomic updates", () => {
  it.each(LISTS)('%j', async (labels, before, after) => {
    await post(`${SOLR}?commit=true`, [{ ...BEFORE, labels: before }]);
    const update = { id: 'mydoc', price: { set: 99 }, popularity: { inc: 20 }, labels };
    expect((await post(`${SOLR}?commit=true`, [update])).status).toBe(200);
    const [doc] = await select('id:mydoc');
    expect(doc).toEqual({ id: 'mydoc', price: 99, popularity: 62, ...(after ? { labels: after } : {}) });
  });

  it('as XML', async () => {
    await post(`${CORES}?commit=true`, { ...BEFORE, labels: ['a', 'b'], title: 'old', location: '1,2' });
    const response = await xml(
      `<add><doc><field name="id">mydoc</field><field name="price" update="set">99</field>
        <field name="popularity" update="inc">20</field><field name="labels" update="add">c</field>
        <field name="labels" update="add">d</field><field name="labels" update="remove">a</field>
        <field name="title" update="set" null="true"/><field name="location" update="set"></field>
        <field name="plain">1</field></doc></add>`,
    );
    expect(response.status).toBe(200);
    expect(await select('id:mydoc')).toEqual([
      { id: 'mydoc', price: 99, popularity: 62, labels: ['b', 'c', 'd'], plain: 1 },
    ]);
  });
});

describe("Solr's examples of optimistic concurrency", () => {
  it('work as in its guide', async () => {
    const added = await post(`${SOLR}?versions=true`, [{ id: 'aaa' }, { id: 'bbb' }]);
    const [, a, , b] = added.json.adds;
    expect(added.json.adds).toEqual(['aaa', a, 'bbb', a + 1]);
    expect([typeof a, b < 2 ** 53]).toEqual(['number', true]);

    const wrong = await post(`${SOLR}?versions=true`, [
      { id: 'aaa', _version_: 999999, foo_s: 'wrong existing version' },
    ]);
    expect(refusal(wrong)).toEqual([
      409,
      expect.stringContaining(`version 999999 was expected, and its version is ${a}`),
    ]);
    expect(wrong.json.error.details).toMatchObject([{ id: 'aaa', position: 0, code: 'conflict' }]);
    expect((await post(`${SOLR}?_version_=999999&versions=true`, [{ id: 'aaa', foo_s: 'wrong' }])).status).toBe(409);
    const right = await post(`${SOLR}?_version_=${a}&versions=true`, [{ id: 'aaa', foo_s: 'right existing version' }]);
    expect(right.json.adds).toEqual(['aaa', b + 1]);

    expect(await get('aaa', '_version_')).toEqual({ _version_: b + 1 });
    expect(await get('aaa', 'id,foo_s,_version_')).toEqual({ id: 'aaa', _version_: b + 1 });
    expect(await get('nobody', '_version_')).toBeNull();
    await send(`${SOLR}?commit=true`);
    expect(await get('aaa', 'foo_s,_version_')).toEqual({ foo_s: 'right existing version', _version_: b + 1 });
    expect(await select('id:bbb&fl=id,_version_')).toEqual([{ id: 'bbb', _version_: b }]);
    expect(await select('id:bbb')).toEqual([{ id: 'bbb' }]);

    expect((await post(SOLR, { delete: { id: 'bbb', _version_: a } })).status).toBe(409);
    expect((await xml(`<delete><id version="${a}">bbb</id></delete>`)).status).toBe(409);
    expect((await post(`${SOLR}?_version_=-1`, { delete: ['bbb'] })).status).toBe(409);
    expect((await post(SOLR, { delete: { id: 'bbb', _version_: b } })).status).toBe(200);
    expect(await get('bbb', 'id,_version_')).toEqual({ id: 'bbb' });
    expect((await post(CORES, { id: 'bbb', n: { inc: 1 }, _version_: 1 })).status).toBe(409);
    expect((await post(CORES, { id: 'bbb', n: { inc: 1 }, _version_: -1 })).status).toBe(200);
  });
});

describe('an invalid atomic update', () => {
  it.each<[object, string]>([
    [{ id: { set: '7' } }, 'id'],
    [{ id: '7', import: { set: null } }, '"import"'],
    [{ id: '7', _version_: 'x' }, '"_version_"'],
  ])('is refused: %j', async (document, problem) => {
    const response = await post(CORES, [document]);
    expect(refusal(response)).toEqual([400, expect.stringContaining(problem)]);
  });

  it('gets its type from the first value, modified or not', async () => {
    expect(
      (await post(`${CORES}?commit=true`, [{ id: '1', count: { inc: 1 }, when: { set: '2024-01-01' } }])).status,
    ).toBe(200);
    expect(refusal(await post(CORES, [{ id: '1', count: { inc: 1.5 } }]))).toEqual([
      400,
      expect.stringContaining('"count"'),
    ]);
    expect(await select('when:2024-01-01&fl=id,count')).toEqual([{ id: '1', count: 1 }]);
  });
});

describe('an update of a document whose picture is being analyzed', () => {
  it('is answered, and visible, when both are done', async () => {
    await service.pause();
    await post(`${CORES}?async=true`, { id: 'slow', image: 'http://pictures.example/red.jpg', n: 1 });
    const update = post(`${CORES}?commit=true`, { id: 'slow', n: { inc: 1 } });
    expect(await get('slow', 'n,_version_')).toEqual({ _version_: expect.any(Number) });
    service.resume();
    expect((await update).status).toBe(200);
    expect(await select('id:slow&fl=n,color_names')).toEqual([{ n: 2, color_names: ['red'] }]);
  });

  it('fails alone if a number gets too large', async () => {
    await post(CORES, [
      { id: 'max', n: '9223372036854775807' },
      { id: 'num', views: 7 },
    ]);
    await send(CORES, {
      body: '[{"id":"long","views":9223372036854775807}]',
      headers: { 'content-type': 'application/json' },
    });
    const response = await post(`${CORES}?commit=true`, [
      { id: 'long', views: { inc: 1 } },
      { id: 'num', views: { inc: 1 } },
    ]);
    expect(refusal(response)).toEqual([422, expect.stringContaining('"views" cannot grow')]);
    expect((await send('/solr/my-collection/select?q=id:(long+num)&fl=views&sort=id+asc')).text).toContain(
      '9223372036854775807',
    );
  });
});

describe('lists', () => {
  const C = useCollection(service, 'lists');
  const get = async (path: string) => (await ask(service.gateway, `${C}${path}`)).json;
  const post = (path: string, body: unknown) => postJson(service.gateway, `${C}${path}`, body);
  const LISTS = ['sizes:string[]', 'eans:long[]', 'prices:double[]', 'days:date[]'];

  beforeAll(async () => {
    const defined = await post('/schema', { field: LISTS });
    expect(defined.status).toBe(200);
    await post('/update?commit=true', [
      { id: '1', sizes: ['S', 'M', 'S'], eans: [4000000000000000001n.toString(), 7], prices: [9.5, 12], name: 'a' },
      { id: '2', sizes: 'M', days: ['2024-02-29', '0044-03-15T00:00:00.5Z', '2024-02-29'], prices: [-0.5] },
      { id: '3', sizes: [], days: ['2025-01-01'] },
    ]);
  });

  /** The ids that match, in order. */
  const ids = async (query: string) => {
    const { response, error } = await get(`/select?fl=id&sort=id+asc&q=${encodeURIComponent(query)}`);
    return error?.msg ?? response.docs.map(({ id }: { id: string }) => id).join('');
  };

  describe('fields that are defined as lists', () => {
    it('are in the schema, and in documents as they were sent', async () => {
      const { fields } = (await get('/schema')).schema;
      const named = fields.filter(({ origin }: { origin: string }) => origin === 'document');
      const shown = named.map(({ name, type, multiValued }: Record<string, string>) => [name, type, multiValued]);
      expect(shown).toEqual([
        ['sizes', 'string', true],
        ['eans', 'long', true],
        ['prices', 'double', true],
        ['days', 'date', true],
        ['name', 'string', false],
      ]);
      const { text } = await ask(service.gateway, `${C}/select?sort=id+asc&omitHeader=true&fl=*,_version_`);
      expect(text).toContain('"sizes":["S","M","S"],"eans":[4000000000000000001,7],"prices":[9.5,12.0]');
      expect(text).toContain('"days":["2024-02-29T00:00:00Z","0044-03-15T00:00:00.500Z","2024-02-29T00:00:00Z"]');
      expect((await get('/select?q=id:3')).response.docs).toEqual([{ id: '3', days: ['2025-01-01T00:00:00Z'] }]);
    });

    it.each([
      ['sizes:S', '1'],
      ['sizes:(S AND M)', '1'],
      ['sizes:[M TO R]', '12'],
      ['-sizes:*', '3'],
      ['text:m', '12'],
      ['eans:4000000000000000001', '1'],
      ['eans:5.5', ''],
      ['prices:{9.5 TO 12}', ''],
      ['prices:[10 TO 20]', '1'],
      ['days:2024-02-29', '2'],
      ['days:[NOW/YEAR-1000YEARS TO NOW]', '23'],
      ['{!terms f=sizes}S,XL', '1'],
      ['eans:x', expect.stringContaining('"x"')],
    ])('match a filter if any value does: %s', async (query, expected) => {
      expect(await ids(query)).toEqual(expected);
    });

    it('count each value once for a document, in facets and terms', async () => {
      const facets = await get(
        '/select?rows=0&facet=true&facet.field=sizes&facet.field=days&facet.field=eans&facet.missing=true',
      );
      expect(facets.facet_counts.facet_fields).toEqual({
        sizes: ['M', 2, 'S', 1, null, 1],
        days: ['0044-03-15T00:00:00.500Z', 1, '2024-02-29T00:00:00Z', 1, '2025-01-01T00:00:00Z', 1, null, 1],
        eans: ['7', 1, '4000000000000000001', 1, null, 2],
      });
      const { terms } = await get('/terms?terms.fl=sizes&terms.fl=days&terms.sort=index');
      expect(terms.sizes).toEqual(['M', 2, 'S', 1]);
      expect(terms.days.slice(0, 2)).toEqual(['0044-03-15T00:00:00.500Z', 1]);
    });

    it('are no order by themselves, but one of their values is', async () => {
      const { error } = await get('/select?sort=sizes+desc');
      expect([error.code, error.msg]).toEqual([
        400,
        expect.stringMatching(/"sizes" is a list.*field\(sizes,max\) desc/),
      ]);
      const { response } = await get('/select?fl=id&sort=field(days,max)+asc,field(eans,min)+desc');
      expect(response.docs.map(({ id }: { id: string }) => id)).toEqual(['2', '3', '1']);
    });

    it('change atomically, from JSON and from XML', async () => {
      await post('/update', { id: 'x', sizes: { add: 'L' }, eans: { set: [1, 2] }, days: { add: ['2024-01-01'] } });
      await post('/update', { id: 'x', sizes: { 'add-distinct': ['L', 'XL'] }, eans: { remove: 1 } });
      const fields = [
        '<field name="id">x</field>',
        ...['a', 'b'].map((one) => `<field name="sizes" update="add">${one}</field>`),
      ];
      const xml = `<add><doc>${fields.join('')}<field name="days" update="remove">2024-01-01T00:00:00Z</field></doc></add>`;
      const sent = { method: 'POST', body: xml, headers: { 'content-type': 'text/xml' } };
      expect((await ask(service.gateway, `${C}/update?commit=true`, sent)).status).toBe(200);
      expect((await get('/select?q=id:x')).response.docs).toEqual([
        { id: 'x', sizes: ['L', 'XL', 'a', 'b'], eans: [2] },
      ]);
      const many = Array.from({ length: 1_000 }, (_, i) => i);
      expect((await post('/update', { id: 'x', eans: many })).status).toBe(200);
      const tooMany = await post('/update?commit=true', { id: 'x', eans: { add: -1 } });
      expect([tooMany.status, tooMany.json.error.msg]).toEqual([422, expect.stringContaining('1001 values')]);
      await post('/update?commit=true', { delete: 'x' });
    });

    it('come with an export, whose types a new collection takes', async () => {
      const exported = await ask(service.gateway, `${C}/export`);
      const [header, ...documents] = exported.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(header['akin-export'].fields).toEqual({
        sizes: 'string[]',
        eans: 'long[]',
        prices: 'double[]',
        days: 'date[]',
        name: 'string',
      });
      expect(documents.find(({ id }: { id: string }) => id === '2')).toMatchObject({ sizes: ['M'], prices: [-0.5] });
    });

    it('keep their type, as single values keep theirs', async () => {
      const array = await post('/update', { id: 'x', name: ['a', 'b'] });
      expect([array.status, array.json.error.msg]).toEqual([400, expect.stringContaining('field=<name>:string[]')]);
      const again = await post('/schema', { field: ['name:string[]'] });
      expect([again.status, again.json.error.msg]).toEqual([409, expect.stringContaining('has the type string,')]);
      expect((await post('/schema', { field: ['sizes:string'] })).json.error.msg).toContain('type string[],');
      expect((await post('/schema', { field: ['x:boolean[]'] })).json.error.msg).toContain('string, string[], long[]');
      const fromSolr = [
        { name: 'colors', type: 'string', multiValued: true },
        { name: 'ranks', type: 'pints' },
        { name: 'rank', type: 'pints', multiValued: false },
      ];
      expect((await post('/schema', { 'add-field': fromSolr })).status).toBe(200);
      expect((await post('/update', { id: 'x', colors: ['red', 'blue'], ranks: [1, 2], rank: 1 })).status).toBe(200);
      expect((await post('/update', { id: 'x', rank: [1] })).status).toBe(400);
    });
  });
});

describe('deleted files', () => {
  const { post, send } = updatedService(service);
  const PATH = '/api/cores/my-collection/tombstones';
  const file = (id: string) => ({ id, source: '/photos', modified: '2026-01-02T03:04:05Z', bytes: 4_000_000_000 });
  const tombstone = (id: string) => ({ ...file(id), path: id });
  const list = async (query = '') => (await send(`${PATH}${query}`)).json;
  const ids = async () => (await list()).tombstones.map(({ id }: { id: string }) => id);

  describe('tombstones', () => {
    it('list the files whose documents were deleted, by id, by query and in XML', async () => {
      const odd = 'ünï/it\'s "q" & 50%.jpg';
      await post(`${CORES}?commit=true`, ['a', 'b', 'c', odd].map(file));
      await post(`${SOLR}?commit=true`, { delete: [odd] });
      await post(`${SOLR}?commit=true`, { delete: { query: 'id:a' } });
      await send(`${SOLR}?commit=true`, {
        method: 'POST',
        headers: { 'content-type': 'text/xml' },
        body: '<delete><id>b</id></delete>',
      });
      expect((await list()).tombstones).toEqual([tombstone('a'), tombstone('b'), tombstone(odd)]);
      const { tombstones, nextCursor } = await list('?rows=2');
      expect(tombstones).toHaveLength(2);
      const last = await list(`?rows=2&cursor=${nextCursor}`);
      expect([last.tombstones, last.nextCursor]).toEqual([[tombstone(odd)], undefined]);
    });

    it('are not written with tombstones=false, and are removed with *:*', async () => {
      await post(`${CORES}?commit=true`, ['a', 'b'].map(file));
      await post(`${SOLR}?commit=true&tombstones=false`, { delete: ['a'] });
      expect(await ids()).toEqual([]);
      await post(`${SOLR}?commit=true`, { delete: ['b'] });
      expect(await ids()).toEqual(['b']);
      await post(`${SOLR}?commit=true`, { delete: { query: '*:*' } });
      expect(await ids()).toEqual([]);
    });

    it.each(['?cursor=no%20cursor', '?rows=0', '?rows=10001'])('refuse %s', async (query) => {
      const { status, json } = await send(`${PATH}${query}`);
      expect([status, json.error.msg]).toEqual([400, expect.stringMatching(/cursor|rows/)]);
    });

    it('belong to an existing collection', async () => {
      expect((await send('/api/cores/nobody/tombstones')).status).toBe(404);
    });
  });
});
