import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

let service: Service;
const C = '/api/cores/my-collection';
const get = async (path: string) => (await ask(service.gateway, `${C}${path}`)).json;
const post = (path: string, body: unknown) => postJson(service.gateway, `${C}${path}`, body);
const LISTS = ['sizes:string[]', 'eans:long[]', 'prices:double[]', 'days:date[]'];

beforeAll(async () => {
  service = await startService();
  const defined = await post('/schema', { field: LISTS });
  expect(defined.status).toBe(200);
  await post('/update?commit=true', [
    { id: '1', sizes: ['S', 'M', 'S'], eans: [4000000000000000001n.toString(), 7], prices: [9.5, 12], name: 'a' },
    { id: '2', sizes: 'M', days: ['2024-02-29', '0044-03-15T00:00:00.5Z', '2024-02-29'], prices: [-0.5] },
    { id: '3', sizes: [], days: ['2025-01-01'] },
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
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
    ['sizes:s*', ''],
    ['sizes:?', '12'],
    ['-sizes:*', '3'],
    ['text:m', '12'],
    ['{!words f=sizes}m', '12'],
    ['eans:4000000000000000001', '1'],
    ['eans:[8 TO *]', '1'],
    ['eans:5.5', ''],
    ['prices:12', '1'],
    ['prices:{9.5 TO 12}', ''],
    ['prices:[10 TO 20]', '1'],
    ['days:2024-02-29', '2'],
    ['days:[2024-03-01 TO *]', '3'],
    ['days:[2000-01-01 TO 2024-12-31]', '2'],
    ['days:[NOW/YEAR-1000YEARS TO NOW]', '23'],
    ['days:*', '23'],
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
    expect([error.code, error.msg]).toEqual([400, expect.stringMatching(/"sizes" is a list.*field\(sizes,max\) desc/)]);
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
    expect((await get('/select?q=id:x')).response.docs).toEqual([{ id: 'x', sizes: ['L', 'XL', 'a', 'b'], eans: [2] }]);
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
