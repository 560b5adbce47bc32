import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, postJson } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

let service: Service;
const C = '/api/cores/my-collection';
const get = async (query: string, path = 'select') =>
  (await ask(service.gateway, `${C}/${path}?omitHeader=true&${encodeURI(query)}`)).json;
const idsOf = ({ docs }: { docs: readonly { id: string }[] }) => docs.map(({ id }) => id).join(' ');
const RANKED = 'rank.by.id=red&fl=id,score';

beforeAll(async () => {
  service = await startService();
  await postJson(service.gateway, `${C}/update?commit=true`, [
    { id: 'red', product: 'a', price: 30, import: outputsOf('red') },
    { id: 'red too', product: 'a', price: 10, import: outputsOf('red') },
    { id: 'green', product: 'b', price: 20, size: 7, import: outputsOf('green') },
    { id: 'blue', product: 'b', price: 5, import: outputsOf('blue') },
    { id: 'none', price: 1, import: outputsOf('blue') },
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

describe('{!collapse}', () => {
  it.each([
    [`${RANKED}&fq={!collapse field=product}`, 2, /^red (green|blue)$/],
    ['fq={!collapse field=product}&sort=price asc', 2, /^blue red too$/],
    ["fq={!collapse field=product sort='price desc,id asc'}&sort=id asc", 2, /^green red$/],
    ['fq={!collapse field=product min=price}&sort=price desc', 2, /^red too blue$/],
    ['fq={!collapse field=$f max=price}&f=product&sort=price desc&rows=1&start=1', 2, /^green$/],
    ['fq={!collapse field=product nullPolicy=expand min=price}&sort=id asc', 3, /^blue none red too$/],
    [
      'fq={!type=collapse field=product nullPolicy=collapse min=price cost=200 hint=top_fc}&sort=id asc',
      3,
      /^blue none red too$/,
    ],
    ['fq={!collapse field=product min=price}&fq=price:[10 TO *]&sort=id asc', 2, /^green red too$/],
  ])('shows one document for each value: %s', async (query, numFound, ids) => {
    const { response, error } = await get(query);
    expect([error, response.numFound, idsOf(response)]).toEqual([undefined, numFound, expect.stringMatching(ids)]);
  });

  it('pages with a cursor, and its facets count what is shown, unless they exclude it', async () => {
    const filter = 'fq={!collapse field=product tag=one min=price}&sort=id asc&rows=1';
    const first = await get(`${filter}&cursorMark=*`);
    const second = await get(`${filter}&cursorMark=${first.nextCursorMark}`);
    expect([idsOf(first.response), idsOf(second.response)]).toEqual(['blue', 'red too']);
    const facets = 'facet=true&facet.field=product&facet.field={!ex=one key=all}product&facet.query=price:[* TO 5]';
    const { facet_counts: counts } = await get(`${filter}&${facets}`);
    expect(counts.facet_fields).toEqual({ product: ['a', 1, 'b', 1], all: ['a', 2, 'b', 2] });
    expect(counts.facet_queries).toEqual({ 'price:[* TO 5]': 1 });
    const { stats } = await get(
      `${filter}&stats=true&stats.field={!sum=true}price&stats.field={!ex=one key=all sum=true}price`,
    );
    expect(stats.stats_fields).toEqual({ price: { sum: 15 }, all: { sum: 66 } });
  });

  it('expands the others of each value', async () => {
    const { response, expanded } = await get(`${RANKED}&fq={!collapse field=product nullPolicy=expand}&expand=true`);
    expect(idsOf(response)).toMatch(/^red /);
    expect(Object.keys(expanded)).toEqual(['a', 'b']);
    const score = response.docs[0].score;
    expect(expanded.a).toEqual({
      numFound: 1,
      start: 0,
      maxScore: 1,
      numFoundExact: true,
      docs: [{ id: 'red too', score }],
    });
    const few = await get(
      'fq={!collapse field=product max=price}&sort=id asc&expand=true&expand.rows=0&expand.sort=price asc',
    );
    expect(few.expanded).toMatchObject({ a: { numFound: 1, docs: [] }, b: { numFound: 1, docs: [] } });
    const { text } = await ask(
      service.gateway,
      `${C}/select?wt=xml&expand=true&fl=id&${encodeURI('fq={!collapse field=product min=price}')}`,
    );
    expect(text).toContain('<lst name="expanded"><result name="b" numFound="1" start="0" numFoundExact="true"><doc>');
  });
});

describe('group=true', () => {
  const group = 'group=true&group.field=product&sort=price asc&fl=id';

  it('returns groups with their documents, in the order of the first of each', async () => {
    const { response, grouped } = await get(`${group}&group.limit=2&group.ngroups=true&group.sort=price desc`);
    expect(response).toBeUndefined();
    const list = (numFound: number, ...ids: string[]) => ({
      numFound,
      start: 0,
      numFoundExact: true,
      docs: ids.map((id) => ({ id })),
    });
    expect(grouped).toEqual({
      product: {
        matches: 5,
        ngroups: 3,
        groups: [
          { groupValue: null, doclist: list(1, 'none') },
          { groupValue: 'b', doclist: list(2, 'green', 'blue') },
          { groupValue: 'a', doclist: list(2, 'red', 'red too') },
        ],
      },
    });
  });

  it.each([
    ['rows=1&start=1', [['b', 'blue']]],
    [
      'group.offset=1',
      [
        ['none', ''],
        ['b', 'green'],
        ['a', 'red'],
      ].map(([value, ids]) => [value === 'none' ? null : value, ids]),
    ],
    [
      'group.limit=0&fq=product:*',
      [
        ['b', ''],
        ['a', ''],
      ],
    ],
    [
      'fq=price:[20 TO *]&group.limit=9',
      [
        ['b', 'green'],
        ['a', 'red'],
      ],
    ],
    ['group.field=size', [[7, 'green']]],
  ])('pages and filters: %s', async (query, expected) => {
    const field = query.startsWith('group.field') ? 'size' : 'product';
    const { grouped } = await get(
      query.startsWith('group.field') ? `group=true&${query}&fq=size:*` : `${group}&${query}`,
    );
    const shown = grouped[field].groups.map(
      ({ groupValue, doclist }: { groupValue: unknown; doclist: { docs: [] } }) => [groupValue, idsOf(doclist)],
    );
    expect(shown).toEqual(expected);
  });

  it('ranks, and gives one list in two forms', async () => {
    const ranked = await get(`${RANKED}&group=true&group.field=product&group.limit=3&rows=1`, 'image');
    const [{ groupValue, doclist }] = ranked.grouped.product.groups;
    expect([groupValue, doclist.maxScore, idsOf(doclist)]).toEqual(['a', 1, 'red red too']);
    const simple = await get(`${group}&group.format=simple&group.limit=2&start=1&rows=3`);
    const { matches, doclist: list } = simple.grouped.product;
    expect([matches, list.numFound, list.start, idsOf(list)]).toEqual([5, 5, 1, 'blue green red too']);
    const main = await get(`${group}&group.main=true&group.limit=2&start=1&rows=3`);
    expect([main.grouped, main.response.numFound, idsOf(main.response)]).toEqual([undefined, 5, 'blue green red too']);
    const { text } = await ask(service.gateway, `${C}/select?wt=xml&${encodeURI(`${group}&fq=product:b`)}`);
    expect(text).toContain('<str name="groupValue">b</str><result name="doclist" numFound="2"');
  });

  it('counts all matches in facets, or each group once', async () => {
    const facets = 'facet=true&facet.field=product&facet.query=price:[* TO 5]';
    const all = await get(`${group}&${facets}`);
    expect(all.facet_counts).toMatchObject({
      facet_fields: { product: ['a', 2, 'b', 2] },
      facet_queries: { 'price:[* TO 5]': 2 },
    });
    const once = await get(`${group}&${facets}&group.truncate=true`);
    expect(once.facet_counts.facet_fields.product).toEqual(['a', 1, 'b', 1]);
  });
});

it.each([
  ['fq={!collapse}', 'field'],
  ['fq={!collapse field=nothing}', '"nothing"'],
  ['fq={!collapse field=labels}', 'string[]'],
  ['fq={!collapse field=location}', '"location"'],
  ['fq={!collapse field=product nullPolicy=no}', 'nullPolicy'],
  ['fq={!collapse field=product min=price max=price}', 'only one of min, max'],
  ['fq={!collapse field=product min=sum(price,1)}', 'sort='],
  ["fq={!collapse field=product sort='price'}", 'asc or desc'],
  ['fq={!collapse field=product}price:5', 'nothing after'],
  ['fq={!collapse field=product}&fq={!collapse field=size}', 'only one'],
  ['fq={!collapse field=product}&collapse=duplicates', 'collapse=duplicates'],
  ['q={!collapse field=product}', 'collapse'],
  ['expand=true', '{!collapse'],
  ['fq={!collapse field=product}&expand=true&expand.rows=-1', 'expand.rows'],
  ['fq={!collapse field=product}&expand=true&expand.q=*:*', 'expand.q'],
  ['group=true', 'group.field'],
  ['group=true&group.field=product&group.field=size', 'only one field'],
  ['group=true&group.field=labels', 'group.field'],
  ['group=true&group.field=product&group.limit=-1', 'group.limit'],
  ['group=true&group.field=product&group.limit=1000&rows=11', '11000'],
  ['group=true&group.field=product&group.limit=1000&group.main=true&start=10&rows=1', '11000'],
  ['group=true&group.field=product&group.query=price:5', 'group.query'],
  ['group=true&group.func=sum(price,1)&group.field=product', 'group.func'],
  ['group=true&group.field=product&cursorMark=*', 'cursorMark'],
  ['group=true&group.field=product&fq={!collapse field=product}', '{!collapse}'],
  ['group=true&group.field=product&group.sort=price', 'group.sort'],
])('is refused with a reason: %s', async (query, problem) => {
  const { error } = await get(query);
  expect([error.code, error.msg]).toEqual([400, expect.stringContaining(problem)]);
});
