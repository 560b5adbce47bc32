import { describe, expect, it } from '@jest/globals';
import type { Service } from '../../test/start-service.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

let service: Service;
const { post, send } = updatedService((started) => {
  service = started;
});
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
    [{ id: '7', price: { multiply: 2 } }, '"price"'],
    [{ id: '7', price: {} }, '"price"'],
    [{ id: '7', price: { set: 1, other: 2 } }, '"price"'],
    [{ id: '7', tags: { add: 'x' } }, 'changes a list'],
    [{ id: '7', name: { inc: 'x' } }, 'field of numbers'],
    [{ id: '7', labels: { inc: 1 } }, 'takes a number'],
    [{ id: '7', price: { set: [1, 2] } }, 'an array'],
    [{ id: '7', price: { inc: null } }, '"price"'],
    [{ id: '7', image: { set: 'not a URL' } }, '"image"'],
    [{ id: '7', import: { set: null } }, '"import"'],
    [{ id: '7', text: { set: 'x' } }, '"text"'],
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
    service.pause();
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
