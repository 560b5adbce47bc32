import { createRandom, parseQuery, type Query } from '@akin/domain';
import { onPostgres, scaledByChaos } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, openTestStore, testOutputs } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import { defineFields } from '../database/collections/define-fields.ts';
import type { Collection } from '../database/context.ts';
import type { FieldCollapse } from './collapse-request.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';
import { InMemorySearch } from './searcher/in-memory-search.ts';
import { parseSort } from './sort.ts';

const COUNT = 600;
const EXACT = 40;
const COLLAPSE: Query = { kind: 'all' };

interface Doc {
  readonly id: string;
  readonly n: number;
  readonly price?: number;
  readonly product?: string;
}

const random = createRandom(11);
const documentOf = (n: number): Doc & { import?: string } => {
  const numbers = [random(), random(), random(), random()];
  const length = Math.hypot(...numbers);
  const shape = numbers.map((number) => number / length);
  return {
    id: `d${String(n).padStart(4, '0')}`,
    n,
    ...(n % 11 === 0 ? {} : { price: (n * 37) % 101 }),
    ...(n % 6 === 0 ? {} : { fifth: n % 5, mark: n % 7 === 0 ? -0 : ((n % 13) - 6) / 4, isNew: n % 3 === 0 }),
    ...(n % 10 === 0 ? {} : { taken: `20${10 + (n % 20)}-01-31T12:00:00.${100 + (n % 3)}Z` }),
    // Every eighth has no product; p0 has a third of the documents.
    ...(n % 8 === 0 ? {} : { product: `p${n % 3 === 0 ? 0 : n % 50}` }),
    ...(n % 9 === 0 ? {} : { import: testOutputs({ shape }) }),
  };
};

describe.each(ENGINES)('collapsing by a field on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const withoutMemory = new InMemorySearch({ exactRows: EXACT, memory: 0 });
  let store: Store;
  let collection: Collection;
  /** The live documents with their distances from the query, nearest first. */
  let ranked: (Doc & { distance: number })[] = [];
  const documents = new Map<string, Doc>();

  const send = async (changes: readonly (ReturnType<typeof documentOf> | { kind: 'delete'; id: string })[]) => {
    await accept(store, collection, changes);
    await commit(store, collection);
    for (const one of changes) {
      if ('kind' in one) documents.delete(one.id);
      else documents.set(one.id, one);
    }
    const all = await ask(store, { rows: 1_000, rank: RANK });
    ranked = all.hits.map(({ id, distance = 0 }) => ({ ...(documents.get(id) as Doc), distance }));
  };

  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'collapsed');
      await defineFields(store, collection, new Map([['sizes', 'strings']]));
      await send(Array.from({ length: COUNT }, (_, n) => documentOf(n)));
    },
    (location) => openTestStore(location, 0, { exactDocuments: EXACT }),
  );
  afterAll(() => withoutMemory[Symbol.asyncDispose]());

  const RANK = { module: 'shape', vector: Float32Array.of(0.8, 0.6, 0, 0), smartfilter: 'off' as const };
  const ask = (from: Store, { fq = [], ...request }: Partial<SearchRequest> & { readonly fq?: readonly string[] }) =>
    search(from, collection, {
      query: parseQuery('*:*'),
      filters: fq.map((one) => parseQuery(one)),
      rows: 10,
      ...request,
    });
  const by = (collapse: Partial<FieldCollapse> = {}): FieldCollapse => ({
    field: 'product',
    missing: 'leave-out',
    query: COLLAPSE,
    parameter: 'fq',
    ...collapse,
  });

  type Matched = Doc & { readonly distance?: number };
  type Order = (a: Matched, b: Matched) => number;
  /** The first of each group in an order, as a model of the result. */
  const headsOf = (matches: readonly Matched[], { missing }: Pick<FieldCollapse, 'missing'>, order: Order) => {
    const heads = new Map<string, Matched>();
    for (const one of [...matches].sort(order)) {
      if (one.product === undefined && missing === 'leave-out') continue;
      const group = one.product ?? (missing === 'each' ? one.id : '');
      if (!heads.has(group)) heads.set(group, one);
    }
    return [...heads.values()];
  };
  const byId: Order = (a, b) => (a.id < b.id ? -1 : 1);
  const byDistance: Order = (a, b) => (a.distance ?? 0) - (b.distance ?? 0) || byId(a, b);
  const lastIfMissing = (value: number | undefined, sign: number) => (value === undefined ? 1e9 : sign * value);
  const byPrice =
    (sign: number): Order =>
    (a, b) =>
      lastIfMissing(a.price, sign) - lastIfMissing(b.price, sign) || byId(a, b);

  it.each([
    ['leave-out', []],
    ['each', []],
    ['together', ['n:[100 TO *]']],
    ['leave-out', ['product:p0']],
    ['leave-out', ['-product:p0', 'price:[50 TO *]']],
    ['each', ['-product:*']],
    ['together', ['id:none']],
  ] as const)('shows the nearest of each value, without one: %s, filters: %j', async (missing, fq) => {
    const isIn: ((doc: Doc) => boolean)[] = fq.map((one) => {
      if (one === 'n:[100 TO *]') return ({ n }: Doc) => n >= 100;
      if (one === 'product:p0') return ({ product }: Doc) => product === 'p0';
      if (one === '-product:p0') return ({ product }: Doc) => product !== 'p0';
      if (one === 'price:[50 TO *]') return ({ price }: Doc) => price !== undefined && price >= 50;
      return ({ product }: Doc) => one === '-product:*' && product === undefined;
    });
    const heads = headsOf(
      ranked.filter((doc) => isIn.every((is) => is(doc))),
      { missing },
      byDistance,
    );
    for (const [start, rows] of [
      [0, 10],
      [7, 15],
      [0, 0],
      [40, 300],
    ] as const) {
      const request = { fq, rank: RANK, collapseBy: by({ missing }), start, rows };
      const [inMemory, inDatabase] = [
        await ask(store, request),
        await ask({ ...store, inMemory: withoutMemory }, request),
      ];
      const expected = {
        numFound: heads.length,
        ids: heads.slice(start, start + rows).map(({ id }) => id),
        best: heads[0]?.distance,
      };
      const shown = ({ numFound, hits, minDistance }: typeof inMemory) => ({
        numFound,
        ids: hits.map(({ id }) => id),
        best: minDistance,
      });
      expect(shown(inMemory)).toEqual(expected);
      expect(shown(inDatabase)).toEqual(expected);
      expect([inMemory.ranking?.inMemory, inDatabase.ranking?.inMemory]).toEqual([true, false]);
    }
  });

  itOnPostgres('is as complete if only the nearest codes are compared', async () => {
    const rank = { ...RANK, smartfilter: 'low' as const };
    const heads = headsOf(ranked, { missing: 'leave-out' }, byDistance);
    const { numFound, hits, ranking } = await ask(store, { rank, collapseBy: by(), rows: 30 });
    expect([numFound, hits.length, ranking?.exact]).toEqual([heads.length, 30, false]);
    const wanted = new Set(heads.slice(0, 30).map(({ id }) => id));
    expect(hits.filter(({ id }) => wanted.has(id)).length).toBeGreaterThanOrEqual(28);
  });

  it.each([
    ['price asc', undefined, 1],
    ['price desc', undefined, -1],
    ['id asc', 'price asc', 1],
    ['score desc', 'price desc', -1],
  ])('selects by an order: sort=%s, collapse sort=%s', async (sort, own, sign) => {
    const order = own === undefined ? undefined : parseSort(own);
    const all = [...documents.values()];
    const heads = headsOf(all, { missing: 'leave-out' }, byPrice(sign));
    const shown = sort.startsWith('price') ? heads : [...heads].sort(byId);
    const pages: string[] = [];
    for (let mark = '*', end = false; !end; ) {
      const page = await ask(store, { sort: parseSort(sort), collapseBy: by({ order }), rows: 7, cursorMark: mark });
      expect(page.numFound).toBe(heads.length);
      expect((await ask(store, { collapseBy: by({ order }), rows: 0 })).numFound).toBe(heads.length);
      pages.push(...page.hits.map(({ id }) => id));
      end = page.nextCursorMark === mark;
      mark = page.nextCursorMark ?? mark;
    }
    expect(pages).toEqual(shown.map(({ id }) => id));
  });

  it('selects by an order, and ranks what was selected, with a threshold and a cursor', async () => {
    const within = ranked.filter(({ distance }) => distance <= 0.9);
    const cheapest = headsOf(within, { missing: 'leave-out' }, byPrice(1)).sort(byDistance);
    const rank = { ...RANK, maxDistance: 0.9 };
    const request = { rank, collapseBy: by({ order: parseSort('price asc') }), rows: 12 };
    const first = await ask(store, { ...request, cursorMark: '*' });
    const second = await ask(store, { ...request, cursorMark: first.nextCursorMark });
    const found = [...first.hits, ...second.hits].map(({ id }) => id);
    expect(found).toEqual(cheapest.slice(0, 24).map(({ id }) => id));
    expect([first.numFound, second.numFound]).toEqual([cheapest.length, cheapest.length]);
    const nearest = await ask(store, { rank, collapseBy: by(), rows: 5 });
    const heads = headsOf(within, { missing: 'leave-out' }, byDistance);
    expect([nearest.numFound, ...nearest.hits.map(({ id }) => id)]).toEqual([
      heads.length,
      ...heads.slice(0, 5).map(({ id }) => id),
    ]);
  });

  it.each(Array.from({ length: scaledByChaos(12) }, (_, seed) => seed))(
    'selects by columns in memory what the database selects: %d',
    async (seed) => {
      const dice = createRandom(seed);
      const one = <T>(list: readonly T[]): T => list[Math.floor(dice() * list.length)] as T;
      const ORDERS = [
        'price asc',
        'price desc',
        'fifth asc, price desc',
        'taken desc',
        'mark asc',
        'isNew desc',
        'id desc',
      ];
      const [sort, own] = [one(ORDERS), one([undefined, ...ORDERS])];
      const request = {
        sort: parseSort(one([sort, sort, ''])),
        rows: 1 + Math.floor(dice() * 60),
        fq: one([[], ['-product:p0'], ['price:[20 TO 80]'], ['fifth:(0 1)', '-isNew:true'], ['id:none']]),
        collapseBy: by({
          field: one(['product', 'product', 'fifth', 'taken', 'mark']),
          missing: one(['leave-out', 'each', 'together'] as const),
          order: own === undefined ? undefined : parseSort(own),
        }),
      };
      const ranked = dice() < 0.3 ? { rank: RANK, sort: [], rows: request.rows } : {};
      const isPaged = ranked.rank === undefined && dice() < 0.5;
      for (let mark = '*', start = 0, pages = 0; pages < 4; pages++) {
        const asked = { ...request, ...ranked, ...(isPaged ? { cursorMark: mark } : { start }) };
        const inMemory = await ask(store, asked);
        const { ranking: _, ...inDatabase } = await ask({ ...store, inMemory: withoutMemory }, asked);
        expect({ ...inMemory, ranking: undefined }).toEqual({ ...inDatabase, ranking: undefined });
        expect(inMemory.ranking?.inMemory).toBe(asked.rank && true);
        mark = inMemory.nextCursorMark ?? mark;
        start += request.rows;
      }
      expect(store.inMemory.loadedCollection(collection.id)?.columns.names).toContain('id');
    },
  );

  it('counts in facets what is shown, unless they leave it out', async () => {
    const dear = parseQuery('price:[50 TO *]');
    const facet = (excluded: readonly Query[]) => ({
      ...({
        kind: 'field',
        field: 'product',
        limit: 3,
        offset: 0,
        mincount: 1,
        sort: 'index',
        missing: false,
      } as const),
      excludedQueries: new Set(excluded),
    });
    const request = {
      filters: [dear],
      collapseBy: by(),
      rank: RANK,
      rows: 1,
      facets: [facet([]), facet([COLLAPSE]), facet([dear]), { kind: 'query' as const, query: dear }],
    };
    const { facets, hits, ranking } = await search(store, collection, { query: parseQuery('*:*'), ...request });
    expect(ranking?.inMemory).toBe(true);
    const counts = (index: number) => {
      const found = facets[index];
      return found?.kind === 'field' ? found.counts.map(({ value, count }) => [value, count]) : found;
    };
    const isDear = ({ price }: Doc) => price !== undefined && price >= 50;
    const p0 = ranked.filter((doc) => isDear(doc) && doc.product === 'p0').length;
    const products = new Set(ranked.filter(isDear).flatMap(({ product = [] }) => product));
    expect(counts(0)).toEqual(
      [...products]
        .sort()
        .slice(0, 3)
        .map((product) => [product, 1]),
    );
    expect(counts(1)).toContainEqual(['p0', p0]);
    // The nearest of all documents are others than the nearest dear ones.
    expect(counts(2)).toEqual(
      [...new Set(ranked.flatMap(({ product = [] }) => product))]
        .sort()
        .slice(0, 3)
        .map((one) => [one, 1]),
    );
    expect(facets[3]).toEqual({ kind: 'query', count: products.size });
    expect(hits[0]?.id).toBe(ranked.find((doc) => isDear(doc) && doc.product !== undefined)?.id);
  });

  it.each([true, false])(
    'returns the documents of the groups on a page, without the heads: %s',
    async (withoutHeads) => {
      const members = { limit: 2, offset: 1, sort: parseSort('price desc'), withoutHeads };
      const missing = withoutHeads ? ('leave-out' as const) : ('together' as const);
      const request = { rank: RANK, collapseBy: by({ missing }), members, rows: 20, fq: ['n:[* TO 400]'] };
      const { hits, groups, matches } = await ask(store, request);
      const matching = ranked.filter(({ n }) => n <= 400);
      expect(matches).toBe(withoutHeads ? undefined : matching.length);
      for (const [i, { id }] of hits.entries()) {
        const product = documents.get(id)?.product;
        const own = matching
          .filter((doc) => doc.product === product && (!withoutHeads || doc.id !== id))
          .sort(byPrice(-1));
        const group = groups?.[i];
        expect(group).toMatchObject({ value: product, total: own.length });
        expect(group?.distance).toBe(own.length === 0 ? undefined : Math.min(...own.map(({ distance }) => distance)));
        expect(group?.members.map((one) => [one.id, one.distance, one.document.get('product')])).toEqual(
          own.slice(1, 3).map(({ id: member, distance }) => [member, distance, product]),
        );
      }
      expect(hits).toHaveLength(20);
    },
  );

  it('scores groups of an unranked search', async () => {
    const request = { query: parseQuery('product:p1^2 product:p2'), scores: true, collapseBy: by(), rows: 5 };
    const members = { limit: 1, offset: 0, sort: [], withoutHeads: true };
    const { hits, groups } = await ask(store, { ...request, members });
    expect(hits.map(({ document, score }) => [document.get('product'), score])).toEqual([
      ['p1', 2],
      ['p2', 1],
    ]);
    const sizes = ['p1', 'p2'].map((one) => [...documents.values()].filter(({ product }) => product === one).length);
    expect(groups?.map(({ total, score }) => [total + 1, score])).toEqual([
      [sizes[0], 2],
      [sizes[1], 1],
    ]);
  });

  describe('after changes', () => {
    beforeAll(async () => {
      // The nearest changes its product, others vanish, and new products come.
      const [first, second, third] = ranked as unknown as [Doc, Doc, Doc];
      await send([
        { ...documentOf(first.n), product: 'new' },
        { kind: 'delete', id: second.id },
        { ...documentOf(third.n), product: 'other' },
        ...Array.from({ length: 30 }, (_, i) => ({ ...documentOf(COUNT + i), product: `p${i}` })),
      ]);
    });

    it('still shows the nearest of each value', async () => {
      const heads = headsOf(ranked, { missing: 'leave-out' }, byDistance);
      const { numFound, hits, ranking } = await ask(store, { rank: RANK, collapseBy: by(), rows: 100 });
      expect([numFound, hits.map(({ id }) => id)]).toEqual([heads.length, heads.slice(0, 100).map(({ id }) => id)]);
      expect(ranking?.inMemory).toBe(true);
    });

    it('still shows the first of each value by a column', async () => {
      for (let i = 0; i < 2; i++) {
        const heads = headsOf([...documents.values()], { missing: 'leave-out' }, byPrice(1));
        const { numFound, hits } = await ask(store, { sort: parseSort('price asc'), collapseBy: by(), rows: 100 });
        expect([numFound, hits.map(({ id }) => id)]).toEqual([heads.length, heads.slice(0, 100).map(({ id }) => id)]);
        await send(hits.slice(0, 2).map(({ id }) => ({ kind: 'delete', id })));
      }
    });
  });

  it.each([
    ['nothing', /"nothing"/],
    ['labels', /several values of "labels", a string\[\]/],
    ['sizes', /string\[\]/],
    ['location', /"location".*field with one value/],
    ['text', /"text"/],
    ['shape_descriptor', /"shape_descriptor"/],
  ])('is refused by a field without one value: %s', async (field, problem) => {
    const collapseBy = by({ field, parameter: 'group.field' });
    for (const request of [{}, { rank: RANK }]) {
      await expect(ask(store, { ...request, collapseBy })).rejects.toMatchObject({
        code: 'bad-request',
        message: expect.stringMatching(problem),
      });
    }
  });
});
