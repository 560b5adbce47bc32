import { createCollection } from '@akin/store/database';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, FORM_BODY, JSON_BODY, postJson } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const C = '/api/cores/my-collection';

const service = useService();
beforeAll(async () => {
  const documents = [
    ...['red', 'red-2', 'red-copy', 'blue', 'blue-2', 'green'].map((picture, i) => ({
      id: picture,
      import: outputsOf(picture),
      price: i * 10,
      rate: i + 0.5,
      labels: [picture.split('-')[0], 'painted'],
      title: `A ${picture.replace('-', ' ')} picture`,
      location: `${48 + i},11.5`,
    })),
    { id: 'twin of red', import: outputsOf('red'), price: 100 },
    { id: 'no picture', price: 70, title: 'Only words, naïve ones' },
  ];
  expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
});

type Fields = Record<string, string | readonly string[]>;
const query = (fields: Fields) => {
  const list = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) list.append(name, one);
  return list.toString();
};
const get = (endpoint: string, fields: Fields = {}) => ask(service.gateway, `${C}/${endpoint}?${query(fields)}`);
const found = async (endpoint: string, fields: Fields = {}) => {
  const { json } = await get(endpoint, fields);
  return json.response?.docs.map(({ id }: { id: string }) => id) ?? json;
};
const refusal = async (endpoint: string, fields: Fields) => {
  const { status, json } = await get(endpoint, fields);
  return [status, json.error?.msg];
};

describe('a search', () => {
  it('finds everything without q, with q empty, *, *:* or a malformed pair', async () => {
    for (const search of ['', 'q=', 'q=*', 'q=*:*', '&rows=0&q*:*']) {
      expect((await ask(service.gateway, `${C}/select?${search}`)).json.response.numFound).toBe(8);
    }
  });

  it('pages by start and rows, and by cursorMark until it no longer changes', async () => {
    expect(await found('select', { sort: 'price asc', start: '2', rows: '3' })).toEqual(['red-copy', 'blue', 'blue-2']);
    const seen: string[] = [];
    for (let mark = '*', pages = 0; pages < 10; pages++) {
      const { json } = await get('select', { sort: 'id asc', rows: '3', fl: 'id', cursorMark: mark });
      seen.push(...json.response.docs.map(({ id }: { id: string }) => id));
      if (json.nextCursorMark === mark) break;
      mark = json.nextCursorMark;
    }
    expect(seen).toHaveLength(8);
    expect(seen).toEqual([...seen].sort());
  });

  it('refuses deep pages, naming cursorMark, and other bad numbers', async () => {
    expect(await refusal('select', { start: '9999', rows: '10' })).toEqual([
      400,
      expect.stringContaining('cursorMark'),
    ]);
    expect(await refusal('select', { cursorMark: 'x' })).toEqual([400, expect.stringContaining('cursorMark')]);
    expect(await refusal('select', { cursorMark: '*', start: '1' })).toEqual([400, expect.stringContaining('start')]);
  });

  it('sorts by fields and in a repeatable random order', async () => {
    expect((await found('select', { sort: 'price desc', rows: '2' })).at(0)).toBe('twin of red');
    const random = await found('select', { sort: 'random_7 desc' });
    expect(await found('select', { sort: 'random_7 desc' })).toEqual(random);
    expect(await refusal('select', { sort: 'price' })).toEqual([400, expect.stringContaining('Parameter sort')]);
  });

  it('returns the fields of fl', async () => {
    const doc = async (fl: string | string[]) => (await get('select', { q: 'id:red', fl })).json.response.docs[0];
    expect(await doc('id,price')).toEqual({ id: 'red', price: 0 });
    expect((await doc('content_descriptor')).content_descriptor).toEqual(
      JSON.parse(outputsOf('red')).content_descriptor,
    );
    const [own, { json: got }] = [
      await doc('*,-outputs,color_isolated'),
      await get('get', { id: 'red', fl: '-outputs' }),
    ];
    const outputs = (document: object) =>
      Object.keys(document).filter((name) => /^(color|content|duplicate|copy)/.test(name));
    expect([own.price, outputs(own), got.doc.price, outputs(got.doc)]).toEqual([0, ['color_isolated'], 0, []]);
  });

  it('returns scores of words with maxScore on request', async () => {
    const { json } = await get('select', { q: 'naive OR picture', fl: 'id,score' });
    expect(json.response.numFound).toBe(7);
    expect(json.response.maxScore).toBe(json.response.docs[0].score);
    const without = await get('select', { q: 'naive' });
    expect(without.json.response).not.toHaveProperty('maxScore');
  });

  it('accepts raw brackets in the URL, POST forms, JSON bodies and the names of Solr in them', async () => {
    expect(
      (await ask(service.gateway, `${C}/select?fq=price:[60%20TO%20*]&fl=id&sort=id%20asc`)).json.response.docs,
    ).toHaveLength(2);
    const form = await ask(service.gateway, `${C}/select?rows=1`, {
      body: 'fq=price:[60+TO+*]&fq=title:*',
      headers: FORM_BODY,
    });
    expect(form.json.response.docs.map(({ id }: { id: string }) => id)).toEqual(['no picture']);
    const json = await ask(service.gateway, `/solr/my-collection/select`, {
      body: JSON.stringify({
        query: 'labels:painted',
        filter: ['price:[20 TO *]', '-id:green'],
        limit: 2,
        fields: ['id'],
        params: { sort: 'id asc' },
      }),
      headers: JSON_BODY,
    });
    expect(json.json.response).toMatchObject({ numFound: 3, docs: [{ id: 'blue' }, { id: 'blue-2' }] });
  });

  it('names the parameter, the character and the nearest field in its errors', async () => {
    expect(await refusal('select', { q: 'prize:1' })).toEqual([400, expect.stringContaining('price')]);
    expect(await refusal('select', { q: 'a AND' })).toEqual([400, expect.stringMatching(/^Parameter q: .*character/)]);
    expect(await refusal('select', { fq: ['price:1', '(('] })).toEqual([400, expect.stringMatching(/^Parameter fq: /)]);
    expect(await refusal('select', { q: 'price:[NOW TO *]', TZ: 'Nowhere/City' })).toEqual([400, expect.any(String)]);
    expect((await get('select', { q: 'price:[1 TO *]', TZ: 'GMT+1' })).status).toBe(200);
    expect(await refusal('select', { q: 'x', df: 'nowhere' })).toEqual([400, expect.stringContaining('nowhere')]);
  });

  it('filters and sorts by distance, and returns it', async () => {
    const near = { fq: '{!geofilt}', pt: '48,11.5', d: '230', sfield: 'location' };
    expect((await found('select', near)).sort()).toEqual(['red', 'red-2', 'red-copy']);
    expect(await found('select', { ...near, fq: '{!geofilt d=100}' })).toEqual(['red']);
    expect(await found('select', { ...near, fq: '{!bbox}', sort: 'geodist() desc' })).toEqual([
      'red-copy',
      'red-2',
      'red',
    ]);
    const { json } = await get('select', {
      ...near,
      sort: 'geodist() desc',
      fl: 'id,km:geodist(),cost:price',
      rows: '1',
    });
    expect(json.response.docs).toEqual([{ id: 'red-copy', km: expect.closeTo(222.39, 2), cost: 20 }]);
    const all = await get('select', { q: 'id:"no picture"', pt: '0,0', fl: '*,km:geodist(),title' });
    expect(Object.keys(all.json.response.docs[0])).toEqual(['id', 'price', 'title']);
    const score = await get('select', {
      q: '{!func}geodist()',
      pt: '48,11.5',
      sort: 'score asc',
      fl: 'id,km:score',
      rows: '1',
    });
    expect(score.json.response.docs).toEqual([{ id: 'red', km: 0 }]);
    expect(await found('image', { 'rank.by.id': 'red', fq: '{!geofilt pt=51,11.5 d=1}' })).toEqual(['blue']);
    expect(await refusal('select', { fq: '{!geofilt d=5}' })).toEqual([
      400,
      expect.stringMatching(/^Parameter fq: .*pt=/),
    ]);
    expect(await refusal('select', { sort: 'geodist() asc' })).toEqual([
      400,
      expect.stringMatching(/^Parameter sort: .*pt=/),
    ]);
    expect(await refusal('select', { fl: 'a:log(price)' })).toEqual([400, expect.stringContaining('"log(price)"')]);
  });

  it('inserts the values of other parameters into a query', async () => {
    expect(await found('select', { q: '{!term f=$by v=$it}', by: 'id', it: 'no picture' })).toEqual(['no picture']);
    expect(await found('select', { q: '*:*', fq: '{!lucene df=labels v=$qq}', qq: 'green' })).toEqual(['green']);
    expect(await refusal('select', { q: '{!term f=id v=$it}' })).toEqual([
      400,
      expect.stringContaining('no parameter "it"'),
    ]);
  });

  it.each(['group=true', 'facet=true&facet.pivot=a,b', 'defType=edismax', 'json.facet={}', 'json.filter=x', 'hl=on'])(
    'refuses %s, which would change the response',
    async (parameter) => {
      const { status, json } = await ask(service.gateway, `${C}/select?${parameter}`);
      expect([status, json.error.msg]).toEqual([400, expect.stringContaining(parameter.split('=')[0] as string)]);
    },
  );

  it.each([
    'group=false',
    'defType=lucene',
    'timeAllowed=60000',
    'timeAllowed=-100',
    'shards.tolerant=true',
    'wt=anything',
  ])('accepts %s, which would not', async (parameter) => {
    expect((await ask(service.gateway, `${C}/select?${parameter}`)).status).toBe(200);
  });
});

describe('ranking', () => {
  it('puts equal descriptors first with score 1 exactly, the query document before its twin', async () => {
    for (const [asked, other] of [
      ['red', 'twin of red'],
      ['twin of red', 'red'],
    ]) {
      const { docs, maxScore } = (await get('image', { 'rank.by.id': asked as string })).json.response;
      expect(docs.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([asked, other]);
      expect(docs.slice(0, 2).map(({ score }: { score: number }) => score)).toEqual([1, 1]);
      expect(docs[2].score).toBeLessThan(1);
      expect(maxScore).toBe(1);
    }
  });

  it('matches only documents that have the descriptor', async () => {
    expect((await get('image', { 'rank.by.id': 'red' })).json.response.numFound).toBe(7);
    expect(await refusal('image', { 'rank.by.id': 'no picture' })).toEqual([
      400,
      expect.stringContaining('no content descriptor'),
    ]);
    expect(await refusal('image', { 'rank.by.id': 'nobody' })).toEqual([404, expect.stringContaining('"nobody"')]);
  });

  it('filters by q without scoring by it, and sorts by fields on request', async () => {
    const { response } = (await get('image', { 'rank.by.id': 'red', q: 'labels:blue' })).json;
    expect(response.numFound).toBe(2);
    expect(response.maxScore).toBe(response.docs[0].score);
    expect(response.maxScore).toBeLessThan(1);
    expect((await found('image', { 'rank.by.id': 'red', sort: 'price desc', rows: '2' }))[0]).toBe('twin of red');
  });

  it('applies the threshold, by default 0.7 in duplicate mode', async () => {
    expect((await found('duplicate', { 'rank.by.id': 'red' })).sort()).toEqual(['red', 'red-copy', 'twin of red']);
    expect((await get('duplicate', { 'rank.by.id': 'red', 'rank.threshold': '0' })).json.response.numFound).toBe(7);
    expect((await get('select', { 'rank.by.id': 'red', 'rank.mode': 'duplicate' })).json.response.numFound).toBe(7);
    expect(await found('image', { 'rank.by.id': 'green', 'rank.threshold': '1' })).toEqual(['green']);
  });

  it('ranks by colours, by outputs and by several inputs with weights', async () => {
    expect((await found('color', { 'rank.by.hex': '#1020D0' })).slice(0, 2).sort()).toEqual(['blue', 'blue-2']);
    expect((await found('select', { 'rank.by.hex': '0x10B020:2,0x1020D0' }))[0]).toBe('green');
    expect((await found('image', { 'rank.by.outputs': outputsOf('green') }))[0]).toBe('green');
    expect((await found('select', { 'rank.by.outputs': outputsOf('green'), 'rank.mode': 'default' }))[0]).toBe('green');
    const mixed = await ask(
      service.gateway,
      `${C}/image?${query({ 'rank.by.id': 'red' })}&${query({ 'rank.by.outputs': outputsOf('green') })}&rank.weights=-1,1&rows=8`,
    );
    const order = mixed.json.response.docs.map(({ id }: { id: string }) => id);
    expect([order[0], order.slice(-4)]).toEqual(['green', expect.arrayContaining(['red', 'twin of red', 'red-copy'])]);
  });

  it.each<[Fields, string]>([
    [{}, 'Nothing to rank by'],
    [{ 'rank.by.id': '' }, 'Nothing to rank by'],
    [{ 'rank.by.id': 'red', 'rank.mode': 'smell' }, 'Parameter rank.mode must be one of color, content, duplicate'],
    [{ 'rank.by.id': 'red', 'rank.weights': '1,2' }, 'rank.weights has 2 numbers for 1'],
    [{ 'rank.by.id': 'red', 'rank.weights': '0' }, 'zeros'],
    [{ 'rank.by.id': ['red', 'red'], 'rank.weights': '1,-1' }, 'cancel'],
    [{ 'rank.by.hex': 'red', 'rank.mode': 'color' }, 'rank.by.hex'],
    [{ 'rank.by.hex': '0xff0000' }, 'needs rank.mode=color'],
    [
      { 'rank.by.url': 'file:///etc/passwd' },
      'Parameter rank.by.url: The URL of a picture must be absolute and begin with http://',
    ],
    [{ 'rank.by.data': '!!!' }, 'Parameter rank.by.data: The image data is not base64'],
    [{ 'rank.by.outputs': '{}' }, 'contains no content descriptor'],
    [{ 'rank.by.outputs': 'x' }, 'Parameter rank.by.outputs: The JSON cannot be read'],
    [{ 'rank.by.id': Array.from({ length: 21 }, () => 'red') }, 'at most 20'],
  ])('refuses %j', async (fields, message) => {
    expect(await refusal('image', fields)).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('terms', () => {
  it('count a field that is named several times only once', async () => {
    const transactions = jest.spyOn(service.store.engine, 'transaction');
    const { json } = await get('terms', { 'terms.fl': Array.from({ length: 300 }, () => 'labels') });
    const snapshots = transactions.mock.calls.filter(([, options]) => options?.snapshot);
    transactions.mockRestore();
    expect(json.terms).toEqual({ labels: ['painted', 6, 'red', 3, 'blue', 2, 'green', 1] });
    const filtered = await get('terms', { 'terms.fl': 'labels', fq: ['labels:red', '-labels:nothing'] });
    expect(filtered.json.terms.labels).toEqual(['painted', 3, 'red', 3]);
    expect((await get('terms', { 'terms.fl': 'labels', fq: 'nowhere:x' })).status).toBe(400);
    expect(snapshots).toHaveLength(1);
  });

  it('are refused when they are more than a response holds', async () => {
    const documents = Array.from({ length: 11 }, (_, i) => ({
      id: `${i}`,
      labels: Array.from({ length: i < 10 ? 10_000 : 1 }, (_, j) => `${i}-${j}`),
    }));
    await createCollection(service.store, 'many-terms');
    const many = '/api/cores/many-terms';
    expect((await postJson(service.gateway, `${many}/update?commit=true`, documents)).status).toBe(200);
    const terms = async (asked: string) => (await ask(service.gateway, `${many}/terms?${asked}`)).json;
    expect((await terms('terms.fl=labels&terms.limit=-1')).error.msg).toBe(
      'There are more than 100000 values to list: set facet.limit or terms.limit, or ask for fewer fields.',
    );
    expect((await terms('terms.fl=labels&terms.limit=100000')).terms.labels).toHaveLength(200_000);
    expect((await terms('terms.fl=labels&terms.fl=id&terms.limit=100000')).error.code).toBe(400);
  });

  it('are flat lists of values and counts', async () => {
    const { json } = await get('terms', { 'terms.fl': ['labels', 'color_isolated'], 'terms.limit': '-1' });
    expect(json.terms).toEqual({
      labels: ['painted', 6, 'red', 3, 'blue', 2, 'green', 1],
      color_isolated: [true, 7],
    });
    const some = await get('terms', { 'terms.fl': 'labels', 'terms.prefix': 'g', 'terms.sort': 'index' });
    expect(some.json.terms).toEqual({ labels: ['green', 1] });
    const escaped = await get('terms', { 'terms.fl': 'lab\\els', 'terms.prefix': 'g' });
    expect(escaped.json.terms).toEqual({ labels: ['green', 1] });
    const many = Array.from({ length: 201 }, (_, i) => `f${i}`);
    expect(await refusal('terms', { 'terms.fl': many })).toEqual([
      400,
      'A request has at most 200 facets or fields of terms.fl, not 201.',
    ]);
    expect(await refusal('terms', { 'terms.fl': 'nowhere' })).toEqual([
      400,
      'terms.fl cannot be counted: no document has a field "nowhere".',
    ]);
    expect(await refusal('terms', { 'terms.fl': 'location' })).toEqual([
      400,
      'terms.fl cannot be counted: "location" is a location.',
    ]);
    expect(await refusal('terms', { 'terms.fl': 'color_isolated', 'terms.prefix': 't' })).toEqual([
      400,
      'terms.fl cannot be counted: prefix is for Strings, and "color_isolated" is a boolean.',
    ]);
    expect(await refusal('terms', { 'terms.fl': 'labels', 'terms.regex': 'r.*' })).toEqual([
      400,
      expect.stringContaining('terms.regex'),
    ]);
    expect((await get('terms', { 'terms.fl': 'labels', 'terms.mincount': '1', terms: 'true' })).status).toBe(200);
  });
});
