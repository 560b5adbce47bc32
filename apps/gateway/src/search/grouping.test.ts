import { groupRule } from '@akin/modules/vectors';
import { findCollection } from '@akin/store/database';
import { updateGroups } from '@akin/store/maintenance';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, FORM_BODY, postJson } from '../../test/start-gateway.ts';
import { useCollection, useService } from '../../test/start-service.ts';

const service = useService();

const C = '/api/cores/my-collection';
const get = async (query: string, path = 'select') =>
  (await ask(service.gateway, `${C}/${path}?omitHeader=true&${encodeURI(query)}`)).json;
const idsOf = ({ docs }: { docs: readonly { id: string }[] }) => docs.map(({ id }) => id).join(' ');
const RANKED = 'rank.by.id=red&fl=id,score';

beforeAll(async () => {
  await postJson(service.gateway, `${C}/update?commit=true`, [
    { id: 'red', product: 'a', price: 30, import: outputsOf('red') },
    { id: 'red too', product: 'a', price: 10, import: outputsOf('red') },
    { id: 'green', product: 'b', price: 20, size: 7, import: outputsOf('green') },
    { id: 'blue', product: 'b', price: 5, import: outputsOf('blue') },
    { id: 'none', price: 1, import: outputsOf('blue') },
  ]);
});

it.each([
  ['parts', 'rank.by.url=http://a.example/red.jpg'],
  ['groups', 'kind=parts'],
])('/%s says that pictures get no points, by default', async (endpoint, query) => {
  const { json } = await ask(service.gateway, `${C}/${endpoint}?${query}`);
  expect([json.numFound ?? json.response.numFound, json.responseHeader.warnings]).toEqual([
    0,
    [expect.stringContaining('lack parts')],
  ]);
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
    ['group.offset=1&fq=product:*&rows=1', [['b', 'green']]],
    ['group.limit=0&fq=product:b', [['b', '']]],
    ['fq=price:[30 TO *]&group.limit=9', [['a', 'red']]],
  ])('pages and filters: %s', async (query, expected) => {
    const { grouped } = await get(`${group}&${query}`);
    const shown = grouped.product.groups.map(
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
  ['fq={!collapse field=product nullPolicy=no}', 'nullPolicy'],
  ['fq={!collapse field=product min=price max=price}', 'only one of min, max'],
  ['fq={!collapse field=product min=sum(price,1)}', 'sort='],
  ['fq={!collapse field=product}price:5', 'nothing after'],
  ['fq={!collapse field=product}&fq={!collapse field=size}', 'only one'],
  ['fq={!collapse field=product}&collapse=duplicates', 'collapse=duplicates'],
  ['q={!collapse field=product}', 'collapse'],
  ['expand=true', '{!collapse'],
  ['fq={!collapse field=product}&expand=true&expand.q=*:*', 'expand.q'],
  ['group=true', 'group.field'],
  ['group=true&group.field=product&group.field=size', 'only one field'],
  ['group=true&group.field=product&group.limit=1000&rows=11', '11000'],
  ['group=true&group.field=product&group.limit=1000&group.main=true&start=10&rows=1', '11000'],
  ['group=true&group.field=product&group.query=price:5', 'group.query'],
  ['group=true&group.field=product&cursorMark=*', 'cursorMark'],
  ['group=true&group.field=product&fq={!collapse field=product}', '{!collapse}'],
  ['group=true&group.field=product&group.sort=price', 'group.sort'],
])('is refused with a reason: %s', async (query, problem) => {
  const { error } = await get(query);
  expect([error.code, error.msg]).toEqual([400, expect.stringContaining(problem)]);
});

describe('groups of duplicates', () => {
  const C = useCollection(service, 'duplicates');

  const blank = (picture: string) =>
    JSON.stringify({ ...JSON.parse(outputsOf(picture)), copyspace: [0, 1, 2, 3, 4, 5, 6, 7, 8] });

  beforeAll(async () => {
    await update([
      { id: 'red', import: outputsOf('red'), price: 1, title: 'A red one', location: '48.1,11.5' },
      { id: 'red, edited', import: outputsOf('red-copy'), price: 2, title: 'The same again' },
      { id: 'red?again=1', import: outputsOf('red'), price: 3 },
      { id: 'red but another', import: outputsOf('red-2'), price: 4 },
      { id: 'blue', import: outputsOf('blue'), price: 5 },
      { id: 'blue twin', import: outputsOf('blue'), price: 6 },
      { id: 'page 1', import: blank('white') },
      { id: 'page 2', import: blank('white') },
      { id: 'no picture', price: 70 },
    ]);
  });
  async function update(body: unknown, path = C): Promise<void> {
    expect((await postJson(service.gateway, `${path}/update?commit=true`, body)).status).toBe(200);
  }

  /** The background work of the indexer. */
  async function group(): Promise<void> {
    const collection = await findCollection(service.store, 'duplicates');
    expect(await updateGroups(service.store, collection, groupRule(), { milliseconds: 60_000 })).toBe(true);
  }

  const get = async (query = '', path = C) => {
    const { status, json } = await ask(service.gateway, `${path}/groups?${query}`);
    return status === 200 ? json : [status, json.error.msg];
  };
  const ids = ({ groups }: { groups: { members: { id: string }[] }[] }) =>
    groups.map(({ members }) => members.map(({ id }) => id));

  describe('/groups', () => {
    it('has none before the first run, and says up to which commit', async () => {
      expect(await get()).toMatchObject({ commit: 1, asOfCommit: 0, numFound: 0, numFoundExact: false, groups: [] });
    });

    it('lists copies with their scores and the pairs of each group; blank pages do not match', async () => {
      await group();
      const response = await get('fl=title,price');
      expect(response).toMatchObject({ responseHeader: { status: 0 }, commit: 1, asOfCommit: 1, threshold: 0.74 });
      expect([response.numFound, response.numFoundExact, response.nextCursor]).toEqual([2, true, undefined]);
      const [blue, red] = response.groups;
      expect(blue).toMatchObject({
        id: 'blue',
        representative: 'blue',
        size: 2,
        members: [
          { id: 'blue', price: 5, score: 1 },
          { id: 'blue twin', price: 6, score: 1 },
        ],
        pairs: [{ ids: ['blue', 'blue twin'], score: 1 }],
      });
      expect(red.members.map(({ id }: { id: string }) => id)).toEqual(['red', 'red?again=1', 'red, edited']);
      expect(red.members[0]).toEqual({ id: 'red', title: 'A red one', price: 1, score: 1 });
      const [same, edited] = red.pairs;
      expect([same.score, edited.ids]).toEqual([1, ['red', 'red, edited']]);
      expect(edited.score).toBeGreaterThan(0.7);
      expect(edited.score).toBeLessThan(1);
    });

    it('lists all members of one group in parts', async () => {
      const red = (from: number) => get(`group.id=red&group.limit=2&group.offset=${from}&fl=id`);
      const first = await red(0);
      expect([ids(first), first.numFound, first.groups[0].size]).toEqual([[['red', 'red?again=1']], 1, 3]);
      expect(ids(await red(2))).toEqual([['red, edited']]);
      expect(ids(await red(3))).toEqual([[]]);
      expect(ids(await get('group.id=red&group.offset=1&fq=price:[2+TO+5]'))).toEqual([['red, edited']]);
      expect(await get('group.id=nobody')).toMatchObject({ numFound: 0, groups: [] });
      expect((await get('group.offset=-1'))[0]).toBe(400);
    });

    it('is filtered by fq, paged by cursor, and lists as many members as requested', async () => {
      expect(ids(await get('fq=price:[2+TO+5]'))).toEqual([['red?again=1', 'red, edited']]);
      expect(ids(await get('fq=price:[2+TO+*]&fq=-id:blue'))).toEqual([['red?again=1', 'red, edited']]);
      const first = await get('rows=1&group.limit=1');
      expect([ids(first), first.groups[0].size, first.numFound]).toEqual([[['blue']], 2, 2]);
      const second = await get(`limit=1&cursor=${first.nextCursor}`);
      expect([ids(second)[0]?.[0], second.nextCursor]).toEqual(['red', undefined]);
      expect(await get('rows=0')).toMatchObject({ numFound: 2, groups: [] });
      expect(await get('rows=0&fq=+&fq=')).toMatchObject({ numFound: 2 });
    });

    it('answers at the old prefix, to a form and as a page', async () => {
      expect(ids(await get('rows=1', '/solr/duplicates'))).toEqual([['blue', 'blue twin']]);
      const posted = await ask(service.gateway, `${C}/groups/`, { method: 'POST', headers: FORM_BODY, body: 'rows=1' });
      expect(ids(posted.json)).toEqual([['blue', 'blue twin']]);
      const page = await ask(service.gateway, `${C}/groups?wt=html`);
      expect([page.status, page.text.includes('blue twin')]).toEqual([200, true]);
      const computed = await get('fq=id:red*&fl=cost:price,km:geodist()&pt=48.1,11.5&sfield=location');
      expect(computed.groups[0].members[0]).toEqual({ id: 'red', cost: 1, km: 0, score: 1 });
    });

    it('shows no member that left, and says that it is not current', async () => {
      await update({ delete: ['blue twin'] }, '/solr/duplicates');
      const behind = await get();
      expect([ids(behind).length, behind.asOfCommit, behind.commit, behind.numFoundExact]).toEqual([1, 1, 2, false]);
      await group();
      expect(await get()).toMatchObject({ numFound: 1, asOfCommit: 2, numFoundExact: true });
    });

    it('refuses invalid parameters by name', async () => {
      for (const [query, named] of [
        ['rows=101', 'rows'],
        ['group.limit=0', 'group.limit'],
        ['cursor=%25', 'cursor'],
        ['fq=price:[', 'fq'],
        ['fl=sum(1)', 'fl'],
        ['group=true', 'group'],
      ]) {
        expect([query, await get(query)]).toEqual([query, [400, expect.stringContaining(`${named}`)]]);
      }
      expect((await ask(service.gateway, '/api/cores/nosuch/groups')).status).toBe(404);
    });
  });

  const PATH = `${C}/groups/decisions`;
  const post = (path: string, body: unknown) => postJson(service.gateway, path, body);

  describe('decisions on groups', () => {
    it('are stored for each pair, listed in pages, and withdrawn', async () => {
      await update(['a', 'b', 'ü "c"'].map((id) => ({ id })));
      const ids = ['ü "c"', 'a', 'b', 'a'];
      const { status, json } = await post(PATH, { ids, decision: 'different' });
      expect([status, json.ids, json.decision]).toEqual([200, ['ü "c"', 'a', 'b'], 'different']);
      const first = (await ask(service.gateway, `${PATH}?rows=2`)).json;
      expect(first.decisions.map((one: { ids: string[] }) => one.ids)).toEqual([
        ['a', 'b'],
        ['a', 'ü "c"'],
      ]);
      const last = (await ask(service.gateway, `${PATH}?rows=2&cursor=${first.nextCursor}`)).json;
      expect([last.decisions, last.nextCursor]).toEqual([[{ ids: ['b', 'ü "c"'], decision: 'different' }], undefined]);
      expect((await post(PATH, { ids, decision: null })).json.decision).toBe(null);
      expect((await ask(service.gateway, PATH)).json.decisions).toEqual([]);
      expect((await post(PATH, { ids: ['a', 'nobody'], decision: 'different' })).status).toBe(404);
    });

    it.each([
      { ids: ['a'], decision: 'different' },
      { ids: ['a', 'a'], decision: 'different' },
      { ids: ['a', 'b'] },
      { ids: ['a', 'b'], decision: 'same' },
      { ids: Array.from({ length: 101 }, (_, i) => `${i}`), decision: 'different' },
    ])('are refused: %j', async (body) => {
      expect((await post(PATH, body)).status).toBe(400);
    });
  });
});

describe('duplicates in a search', () => {
  const C = useCollection(service, 'copies');

  beforeAll(async () => {
    const documents = [
      { id: 'red', import: outputsOf('red'), price: 1 },
      { id: 'red, edited', import: outputsOf('red-copy'), price: 2 },
      { id: 'red?again=1', import: outputsOf('red'), price: 3 },
      { id: 'blue', import: outputsOf('blue'), price: 5 },
      { id: 'blue twin', import: outputsOf('blue'), price: 6 },
      { id: 'no picture', price: 70 },
    ];
    expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
    const collection = await findCollection(service.store, 'copies');
    expect(await updateGroups(service.store, collection, groupRule(), { milliseconds: 60_000 })).toBe(true);
  });
  describe('collapse=duplicates', () => {
    const search = async (query: string) => {
      const { status, json } = await ask(service.gateway, `${C}/${query}`);
      if (status !== 200) return [status, json.error.msg];
      const { numFound, docs } = json.response;
      return [numFound, docs.map(({ id, collapsed }: { id: string; collapsed: number }) => [id, collapsed])];
    };

    it('shows one document of each group, and counts what is shown', async () => {
      expect(await search('select?rows=20&sort=id+asc&fl=id&collapse=duplicates')).toEqual([
        3,
        [
          ['blue', 1],
          ['no picture', 0],
          ['red', 2],
        ],
      ]);
      expect((await search('select?rows=0'))[0]).toBe(6);
      expect(await search('select?rows=0&q=-id:blue&collapse=duplicates')).toEqual([3, []]);
    });

    it('is refused with a cursorMark, and with another value', async () => {
      expect(await search('select?cursorMark=*&sort=id+asc&collapse=duplicates')).toEqual([
        400,
        expect.stringContaining('collapse is not possible with cursorMark'),
      ]);
      expect(await search('select?collapse=other')).toEqual([400, expect.stringContaining('collapse')]);
    });
  });
});
