import { beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, FORM_BODY, JSON_BODY, postJson } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';

const service = useService();
beforeAll(async () => {
  const documents = [
    {
      id: '1',
      category: 'shoe',
      labels: ['red', 'new'],
      price: 10,
      weight: 0.5,
      sold: true,
      taken: '2024-01-10',
      import: outputsOf('red'),
    },
    {
      id: '2',
      category: 'shoe',
      labels: ['red'],
      price: 20,
      weight: 1.5,
      sold: false,
      taken: '2024-02-10',
      import: outputsOf('red-copy'),
    },
    {
      id: '3',
      category: 'hat',
      labels: ['blue', 'new'],
      price: 30,
      weight: 2,
      sold: true,
      taken: '2024-02-20',
      import: outputsOf('blue'),
    },
    { id: '4', category: 'bag, big', price: 45, location: '48,11' },
    { id: '5', 'odd:name': 'x' },
  ];
  expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
});

type Fields = Record<string, string | readonly string[]>;
const get = (fields: Fields) => {
  const list = new URLSearchParams();
  for (const [name, value] of Object.entries({ rows: '0', facet: 'true', ...fields }))
    for (const one of [value].flat()) list.append(name, one);
  return ask(service.gateway, `${C}/select?${list}`);
};
const counts = async (fields: Fields) => {
  const { json, status } = await get(fields);
  expect(json.error).toBeUndefined();
  expect(status).toBe(200);
  return json.facet_counts;
};
const fieldOf = async (name: string, fields: Fields = {}) =>
  Object.values((await counts({ 'facet.field': name, 'facet.mincount': '1', ...fields })).facet_fields)[0];

describe('facet_counts', () => {
  it('has the members of Solr in their order, only if facets are on', async () => {
    const { text } = await get({ 'facet.field': 'category', 'facet.query': 'price:[20 TO *]' });
    expect(text).toContain(
      '"facet_counts":{"facet_queries":{"price:[20 TO *]":3},' +
        '"facet_fields":{"category":["shoe",2,"bag, big",1,"hat",1]},' +
        '"facet_ranges":{},"facet_intervals":{},"facet_heatmaps":{}}',
    );
    expect((await get({ facet: 'false', 'facet.field': 'category' })).json).not.toHaveProperty('facet_counts');
    expect(await counts({})).toEqual({
      facet_queries: {},
      facet_fields: {},
      facet_ranges: {},
      facet_intervals: {},
      facet_heatmaps: {},
    });
  });

  it('counts the matches of the page, with parameters from a form or a JSON body', async () => {
    const { json } = await get({ q: 'category:shoe', fq: 'sold:true', 'facet.field': 'labels', rows: '10' });
    expect(json.response.docs).toHaveLength(1);
    expect(json.facet_counts.facet_fields).toEqual({ labels: ['new', 1, 'red', 1, 'blue', 0] });
    const form = await ask(service.gateway, `${C}/select`, {
      body: 'facet=on&facet.field=sold&facet.field=labels&f.labels.facet.limit=1&f.sold.facet.mincount=1',
      headers: FORM_BODY,
    });
    expect(form.json.facet_counts.facet_fields).toEqual({ sold: ['true', 2, 'false', 1], labels: ['new', 2] });
    const body = { query: '*:*', params: { facet: true, 'facet.field': ['sold', 'category'], 'facet.mincount': 2 } };
    const sent = await ask(service.gateway, '/solr/my-collection/select', {
      body: JSON.stringify(body),
      headers: JSON_BODY,
    });
    expect(sent.json.facet_counts.facet_fields).toEqual({ sold: ['true', 2], category: ['shoe', 2] });
  });
});

describe('facet.field', () => {
  it.each<[string, Fields, unknown[]]>([
    ['labels', {}, ['new', 2, 'red', 2, 'blue', 1]],
    ['price', {}, ['10', 1, '20', 1, '30', 1, '45', 1]],
    ['sold', {}, ['true', 2, 'false', 1]],
    ['taken', { 'facet.limit': '1' }, ['2024-01-10T00:00:00Z', 1]],
    ['color_isolated', {}, ['true', 3]],
    ['odd\\:name', {}, ['x', 1]],
    ['labels', { 'facet.sort': 'index' }, ['blue', 1, 'new', 2, 'red', 2]],
    ['labels', { 'facet.limit': '-1' }, ['blue', 1, 'new', 2, 'red', 2]],
    ['labels', { 'facet.limit': '-1', 'facet.sort': 'true' }, ['new', 2, 'red', 2, 'blue', 1]],
    ['labels', { 'facet.contains': 'E', 'facet.contains.ignoreCase': 'true', 'facet.limit': '1' }, ['new', 2]],
    ['labels', { 'facet.missing': 'true' }, ['new', 2, 'red', 2, 'blue', 1, null, 2]],
    ['category', { 'facet.excludeTerms': 'bag\\, big,hat' }, ['shoe', 2]],
    ["{!terms='bag\\\\, big,none,shoe'}category", {}, ['bag, big', 1, 'none', 0, 'shoe', 2]],
    ["{!terms='none,hat,shoe'}category", { 'facet.sort': 'count' }, ['shoe', 2, 'hat', 1, 'none', 0]],
    ['{!facet.limit=1}labels', { 'facet.limit': '5' }, ['new', 2]],
    ['{!facet.limit=1}labels', { 'f.labels.facet.limit': '2' }, ['new', 2, 'red', 2]],
  ])('%s %j', async (name, fields, expected) => {
    expect(await fieldOf(name, fields)).toEqual(expected);
  });

  it('warns if zeros were requested and cannot be listed', async () => {
    const { json } = await get({ 'facet.field': ['price', 'labels'], q: 'id:1' });
    expect(json.facet_counts.facet_fields).toEqual({ price: ['10', 1], labels: ['new', 1, 'red', 1, 'blue', 0] });
    expect(json.responseHeader.warnings).toEqual([expect.stringContaining('"price"')]);
  });

  it.each([
    ['map', { new: 2, red: 2, '': 3 }],
    [
      'arrarr',
      [
        ['new', 2],
        ['red', 2],
        [null, 3],
      ],
    ],
    ['arrmap', [{ new: 2 }, { red: 2 }, 3]],
    [
      'arrntv',
      [
        { name: 'new', type: 'int', value: 2 },
        { name: 'red', type: 'int', value: 2 },
        { name: null, type: 'int', value: 3 },
      ],
    ],
    ['flat', ['new', 2, 'red', 2, null, 3]],
  ])('is written as json.nl=%s', async (style, expected) => {
    const fields = { 'facet.limit': '2', 'facet.missing': 'on', fq: '-id:4', 'json.nl': style };
    const all = JSON.parse(JSON.stringify(expected).replaceAll('3', '1'));
    expect(await fieldOf('labels', fields)).toEqual(all);
  });

  it('excludes tagged filters, under the requested key', async () => {
    const counted = await counts({
      q: '{!tag=what}price:[* TO 30]',
      fq: ['{!tag=cat,all}category:shoe', '{!tag=all}sold:true'],
      'facet.mincount': '1',
      'facet.field': [
        'category',
        '{!ex=cat key=any}category',
        '{!ex=all,what key="every one"}category',
        '{!ex=none key=same}category',
      ],
      'facet.query': ['{!ex=cat key=hats}category:hat', '{!ex=all}price:20', '{!key=here}price:20'],
      'facet.range': '{!ex=all key=cost}price',
      'facet.range.start': '0',
      'facet.range.end': '40',
      'facet.range.gap': '20',
    });
    expect(counted.facet_fields).toEqual({
      category: ['shoe', 1],
      any: ['hat', 1, 'shoe', 1],
      'every one': ['shoe', 2, 'bag, big', 1, 'hat', 1],
      same: ['shoe', 1],
    });
    expect(counted.facet_queries).toEqual({ hats: 1, '{!ex=all}price:20': 1, here: 0 });
    expect(counted.facet_ranges.cost.counts).toEqual(['0', 1, '20', 2]);
  });
});

describe('facet.query', () => {
  it('accepts the whole query language, with the parameters of the request', async () => {
    const counted = await counts({
      pt: '48,11',
      near: 'hat',
      'facet.query': ['{!geofilt d=5}', '{!frange l=5}geodist()', '-sold:true', '{!term f=category v=$near}', '*:*'],
    });
    expect(counted.facet_queries).toEqual({
      '{!geofilt d=5}': 1,
      '{!frange l=5}geodist()': 0,
      '-sold:true': 3,
      '{!term f=category v=$near}': 1,
      '*:*': 5,
    });
  });
});

describe('facet.range', () => {
  const range = async (field: string, start: string, end: string, gap: string, fields: Fields = {}) =>
    Object.values(
      (
        await counts({
          'facet.range': field,
          'facet.range.start': start,
          'facet.range.end': end,
          'facet.range.gap': gap,
          ...fields,
        })
      ).facet_ranges,
    )[0];

  it('counts numbers and dates in ranges, each in the type of the field', async () => {
    expect(await range('price', '0', '50', '25', { 'facet.range.other': 'all' })).toEqual({
      counts: ['0', 2, '25', 2],
      gap: 25,
      before: 0,
      after: 0,
      between: 4,
      start: 0,
      end: 50,
    });
    const { text } = await get({
      'facet.range': 'weight',
      'f.weight.facet.range.start': '0',
      'facet.range.start': '9',
      'facet.range.end': '2',
      'facet.range.gap': '1',
    });
    expect(text).toContain('"weight":{"counts":["0.0",1,"1.0",1],"gap":1.0,"start":0.0,"end":2.0}');
    expect(await range('taken', '2024-01-01T00:00:00Z', '2024-03-01T00:00:00Z', '+1MONTH')).toEqual({
      counts: ['2024-01-01T00:00:00Z', 1, '2024-02-01T00:00:00Z', 2],
      gap: '+1MONTH',
      start: '2024-01-01T00:00:00Z',
      end: '2024-03-01T00:00:00Z',
    });
  });

  it('supports mincount, hardend, include, other, NOW and TZ', async () => {
    expect(
      await range('price', '0', '30', '12', { 'facet.range.hardend': 'true', 'facet.mincount': '1' }),
    ).toMatchObject({
      counts: ['0', 1, '12', 1],
      end: 30,
    });
    expect(
      await range('price', '10', '30', '10', {
        'facet.range.include': ['upper', 'outer'],
        'facet.range.other': ['before', 'after'],
      }),
    ).toMatchObject({ counts: ['10', 1, '20', 1], before: 1, after: 2 });
    const now = String(Date.UTC(2024, 1, 15));
    expect(
      await range('taken', 'NOW/MONTH', 'NOW/MONTH+1MONTH', '+10DAYS', {
        NOW: now,
        TZ: 'Europe/Berlin',
        'json.nl': 'map',
      }),
    ).toMatchObject({
      counts: { '2024-01-31T23:00:00Z': 1, '2024-02-10T23:00:00Z': 1, '2024-02-20T23:00:00Z': 0 },
    });
  });
});

describe('what cannot be counted', () => {
  it.each<[Fields, string]>([
    [{ 'facet.field': 'categry' }, 'did you mean "category"'],
    [{ 'facet.field': '{!ex=a' }, 'Parameter facet.field: '],
    [{ 'facet.query': 'prise:1' }, 'Parameter facet.query: The query is wrong at character 1: no document has'],
    [{ 'facet.range': 'price' }, 'Parameter facet.range.start is required'],
    [
      { 'facet.range': 'price', 'facet.range.start': '0', 'facet.range.end': '9', 'facet.range.gap': '0' },
      'no greater value',
    ],
    [{ 'facet.field': 'labels', 'facet.limit': 'many' }, 'Parameter facet.limit must be a whole number; it is "many"'],
    [{ 'facet.field': 'labels', 'f.labels.facet.sort': 'up' }, 'Parameter f.labels.facet.sort must be one of'],
    [
      { 'facet.field': 'labels', 'f.labels.facet.prefix': 'a\0' },
      'Parameter f.labels.facet.prefix contains the character NUL',
    ],
    [{ 'facet.pivot': 'labels,category' }, 'Parameter facet.pivot is not supported'],
    [{ 'f.labels.facet.matches': '.*' }, 'Parameter f.labels.facet.matches is not supported'],
  ])('%j', async (fields, message) => {
    const { status, json } = await get(fields);
    expect([status, json.error?.msg]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('stats', () => {
  const FIGURES = '/api/cores/figures';
  const selected = async (query: string) => (await ask(service.gateway, `${FIGURES}/select?rows=0&${query}`)).json;
  const figures = async (query: string) => (await selected(`stats=true&${query}`)).stats.stats_fields;

  beforeAll(async () => {
    await ask(service.gateway, FIGURES, { method: 'PUT' });
    await postJson(service.gateway, `${FIGURES}/schema`, {
      field: ['weights:double[]', 'big:double', 'day:date', 'total:long'],
    });
    await postJson(service.gateway, `${FIGURES}/update?commit=true`, [
      { id: '1', price: 10, name: 'b', sold: true, day: '2024-02-29', weights: [1.5, 2.5] },
      { id: '2', price: 20, name: 'a', sold: false, weights: [2], big: 1e300 },
      { id: '3', price: 40, name: 'Z', day: '0044-03-15', big: -1e300, total: 9223372036854775807n.toString() },
      { id: '4', name: 'a', total: 1 },
    ]);
  });

  it('are those of all matches, by the type of the field', async () => {
    expect(await figures('stats.field=price&stats.field=day&stats.field=name&stats.field=sold')).toEqual({
      price: { min: 10, max: 40, count: 3, missing: 1, sum: 70, mean: 70 / 3, stddev: expect.closeTo(15.2753, 4) },
      day: { min: '0044-03-15T00:00:00Z', max: '2024-02-29T00:00:00Z', count: 2, missing: 2 },
      name: { min: 'Z', max: 'b', count: 4, missing: 0 },
      sold: { min: false, max: true, count: 2, missing: 2 },
    });
    const { weights } = await figures('stats.field=weights');
    expect(weights).toEqual({ min: 1.5, max: 2.5, count: 3, missing: 2, sum: 6, mean: 2, stddev: 0.5 });
  });

  it('leave out filters by tag, have names, and can be chosen', async () => {
    const query =
      'q=price:*&fq={!tag=p}price:[20 TO *]&stats.field={!ex=p key=all}price&stats.field={!max=true min=on}price';
    const { all, price } = await figures(encodeURI(query));
    expect([all.count, all.sum, price]).toEqual([3, 70, { min: 20, max: 40 }]);
  });

  it('of nothing are null, and of huge numbers too', async () => {
    const nothing = { min: null, max: null, count: 0, missing: 0, sum: 0, mean: null, stddev: 0 };
    expect(await figures('q=id:none&stats.field=price&stats.field=weights')).toEqual({
      price: nothing,
      weights: nothing,
    });
    const none = await ask(service.gateway, `${FIGURES}/select?rows=0&stats=true&q=id:none&stats.field=weights`);
    expect(none.text).toContain('"sum":0.0,');
    expect(await figures('')).toEqual({});
    expect(await figures('q=id:3&stats.field=price')).toMatchObject({ price: { count: 1, mean: 40, stddev: 0 } });
    const { big } = await figures('stats.field=big');
    expect(big).toEqual({ min: -1e300, max: 1e300, count: 2, missing: 2, sum: null, mean: null, stddev: null });
    // The sum has more than 64 bits, so that it is a Double.
    const { text } = await ask(service.gateway, `${FIGURES}/select?rows=0&stats=true&stats.field=total`);
    expect(text).toContain('"max":9223372036854775807,"count":2,"missing":2,"sum":9223372036854776000.0,');
  });

  it.each([
    ['stats=true&stats.field=nothing', '"nothing"'],
    ['stats=true&stats.field=location', 'location'],
    ['stats=true&stats.field=text', 'text'],
    ['stats=true&stats.field={!percentiles=50}price', 'percentiles'],
    ['stats=true&stats.field=price&stats.facet=name', 'stats.facet'],
  ])('are refused by name: %s', async (query, problem) => {
    const { error } = await selected(encodeURI(query));
    expect([error.code, error.msg]).toEqual([400, expect.stringContaining(problem)]);
  });
});
