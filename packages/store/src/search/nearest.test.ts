import { createRandom, type ModuleManifest, parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { maintain } from '../../test/maintain.ts';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES } from '../../test/support.ts';
import { watchThreads } from '../../test/threads.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { ParsedOutputs } from '../database/model-sets.ts';
import { openStore } from '../store.ts';
import type { SearchRequest, SearchResult } from './request.ts';
import { search } from './search.ts';
import { InMemorySearch } from './searcher/in-memory-search.ts';
import { parseSort } from './sort.ts';

const DIMENSIONS = 16;
const VIEW: ModuleManifest = {
  name: 'view',
  outputs: [{ name: 'view_descriptor', type: 'string', returnedByDefault: false }],
  descriptor: { output: 'view_descriptor', cell: 'view_cluster', dimensions: DIMENSIONS },
};
const LIMIT = 60;
const COUNT = 2_400;
const THEMES = 24;

let random = createRandom(3);
const gauss = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
const unit = (vector: readonly number[]) => {
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
};
const themes = Array.from({ length: THEMES }, () => unit(Array.from({ length: DIMENSIONS }, gauss)));
const near = (theme: number, spread = 0.12) =>
  unit((themes[theme] as number[]).map((value) => value + spread * gauss()));

/** All themes, from the nearest to a theme on. */
const fromNearToFar = (theme: number) => {
  const nearness = themes.map((one) => one.reduce((sum, value, i) => sum + value * (themes[theme]?.[i] ?? 0), 0));
  return themes.map((_, i) => i).sort((a, b) => (nearness[b] as number) - (nearness[a] as number));
};

function parse(json: string): ParsedOutputs {
  const { view } = JSON.parse(json) as { view?: number[] };
  if (view === undefined) return { fields: new Map(), descriptors: new Map() };
  return {
    fields: new Map([['view_descriptor', view.join(',')]]),
    descriptors: new Map([['view', { vector: Float32Array.from(view) }]]),
  };
}

const documentOf = (n: number, view: readonly number[], theme: number) => ({
  id: `d${String(n).padStart(5, '0')}`,
  theme,
  n,
  half: n % 2,
  tenth: n % 10,
  hundredth: n % 100,
  thousandth: n % 1000,
  import: JSON.stringify({ view }),
});

describe.each(ENGINES)('ranking a large collection on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const views = new Map<string, { view: number[]; theme: number }>();

  const add = async (rows: readonly object[]) => {
    await accept(store, collection, rows);
    await commit(store, collection);
  };
  const made = (n: number, theme = n % THEMES) => {
    const view = near(theme);
    const document = documentOf(n, view, theme);
    views.set(document.id, { view, theme });
    return document;
  };

  sharedStore(
    kind,
    async (opened) => {
      random = createRandom(3);
      store = opened;
      collection = await createCollection(store, 'views');
      for (let from = 0; from < COUNT; from += 800) await add(Array.from({ length: 800 }, (_, i) => made(from + i)));
      await maintain(store);
    },
    (location) =>
      openStore({
        ...location,
        modules: [VIEW],
        parseOutputs: parse,
        descriptorTexts: () => new Map(),
        exactDocuments: LIMIT,
        graceMilliseconds: 0,
      }),
  );

  // The same queries in each run, whatever other tests drew: an approximate search misses a nearest now and then.
  beforeEach(() => {
    random = createRandom(4);
  });

  const find = (view: readonly number[], request: Partial<Omit<SearchRequest, 'query' | 'rank'>> & Asked = {}) => {
    const { fq = [], smartfilter, maxDistance, firstId, ...rest } = request;
    return search(store, collection, {
      query: parseQuery('*:*'),
      filters: fq.map((one) => parseQuery(one)),
      rank: { module: 'view', vector: Float32Array.from(view), smartfilter, maxDistance, firstId },
      rows: 10,
      fields: ['id'],
      ...rest,
    });
  };
  interface Asked {
    readonly fq?: string[];
    readonly smartfilter?: 'off' | 'low' | 'medium' | 'high';
    readonly maxDistance?: number;
    readonly firstId?: string;
  }
  const ids = (result: SearchResult) => result.hits.map(({ id }) => id);
  /** The recall against an exhaustive scan, and whether all pages are full. */
  const recall = async (fq: (theme: number) => string[], smartfilter?: 'low' | 'medium' | 'high') => {
    let right = 0;
    let wanted = 0;
    for (let theme = 0; theme < THEMES; theme += 2) {
      const view = near(theme);
      const filters = fq(theme);
      const truth = await find(view, { fq: filters, smartfilter: 'off' });
      const page = await find(view, { fq: filters, ...(smartfilter ? { smartfilter } : {}) });
      expect(truth.ranking?.exact).toBe(true);
      // By another order the database counts.
      const counted = await find(view, { fq: filters, sort: parseSort('id asc'), rows: 0 });
      expect(page.numFound).toBe(counted.numFound);
      expect(page.hits).toHaveLength(Math.min(10, truth.numFound));
      expect(ids(page)).toEqual([...new Set(ids(page))]);
      const nearest = new Set(ids(truth));
      right += ids(page).filter((id) => nearest.has(id)).length;
      wanted += nearest.size;
    }
    return right / wanted;
  };

  it('compares a part of the descriptors, says so, and finds nearly all of the nearest', async () => {
    const page = await find(near(3));
    expect(page).toMatchObject({ numFound: COUNT, numFoundExact: true, ranking: { exact: false } });
    expect(page.ranking?.distances).toBeGreaterThan(10);
    expect(page.ranking?.distances).toBeLessThan(COUNT);
    expect(await recall(() => [])).toBeGreaterThanOrEqual(0.98);
  });

  itOnPostgres.each([
    ['half', (_: number) => ['half:1']],
    ['a tenth', (_: number) => ['tenth:3']],
    ['a hundredth', (_: number) => ['hundredth:42']],
    ['a thousandth', (_: number) => ['thousandth:7']],
    ['a tenth and a half', (_: number) => ['tenth:4', 'half:0']],
    ['what is near', (theme: number) => [`theme:${theme}`]],
    ['what is far', (theme: number) => [`theme:(${(theme + 5) % THEMES} ${(theme + 9) % THEMES})`]],
    [
      'the half that is farthest',
      (theme: number) => [
        `theme:(${fromNearToFar(theme)
          .slice(THEMES / 2)
          .join(' ')})`,
      ],
    ],
    ['all but the two nearest', (theme: number) => [`-theme:(${fromNearToFar(theme).slice(0, 2).join(' ')})`]],
    ['all but what is near', (theme: number) => [`-theme:${theme}`]],
    ['the first half', (_: number) => [`n:[0 TO ${COUNT / 2 - 1}]`]],
    ['one of all', (_: number) => ['n:1234']],
    ['nothing', (_: number) => ['n:99999999']],
  ])('gives full and right pages of %s', async (_, fq) => {
    expect((await recall(fq)) || 1).toBeGreaterThanOrEqual(0.95);
  });

  itOnPostgres('compares all that match when they are few, and says that it is exact', async () => {
    const page = await find(near(3), { fq: ['hundredth:42'] });
    expect(page).toMatchObject({ numFound: 24, ranking: { exact: true, distances: 24 } });
  });

  itOnPostgres('compares fewer codes the stronger the smart filter is', async () => {
    const view = near(5);
    const distances = [];
    for (const smartfilter of ['off', 'low', 'medium', 'high'] as const) {
      distances.push((await find(view, { smartfilter })).ranking?.distances ?? 0);
    }
    expect(distances).toEqual([...distances].sort((a, b) => b - a));
    expect(distances[1]).toBeLessThan(COUNT / 4);
    expect(distances[0]).toBe(COUNT);
  });

  itOnPostgres('is exact for pages by cursor, deep pages and other orders', async () => {
    const view = near(7);
    const seen: string[] = [];
    for (let mark = '*'; ; ) {
      const page = await find(view, { cursorMark: mark, rows: 700 });
      expect(page.ranking?.exact).toBe(true);
      if (page.hits.length === 0) break;
      seen.push(...ids(page));
      mark = page.nextCursorMark ?? '';
    }
    expect(new Set(seen).size).toBe(COUNT);
    expect(seen).toHaveLength(COUNT);
    const deep = await find(view, { start: 995, rows: 10 });
    expect(deep.ranking?.exact).toBe(true);
    expect(ids(deep)).toEqual(seen.slice(995, 1005));
    const byId = await find(view, { sort: parseSort('id asc') });
    expect(byId).toMatchObject({ ranking: { exact: true } });
    expect(ids(byId)[0]).toBe('d00000');
    const worst = await find(view, { sort: parseSort('score asc') });
    expect(ids(worst)).toEqual(seen.slice(-10).reverse());
  });

  itOnPostgres('gives pages that follow on each other', async () => {
    const view = near(9);
    const whole = await find(view, { rows: 40 });
    const pages = [];
    for (let start = 0; start < 40; start += 10) pages.push(...ids(await find(view, { start })));
    expect(pages.filter((id) => ids(whole).includes(id)).length).toBeGreaterThanOrEqual(39);
    expect(await find(view, { rows: 0 })).toMatchObject({ hits: [], numFound: COUNT, ranking: { exact: false } });
    expect((await find(view, { rows: 0 })).minDistance).toBeCloseTo(whole.hits[0]?.distance ?? 0, 6);
    expect((await find(view, { start: 20 })).minDistance).toBeCloseTo(whole.hits[0]?.distance ?? 0, 6);
  });

  itOnPostgres('is exact with a greatest distance, though it looks only where something can be', async () => {
    let compared = 0;
    for (let theme = 0; theme < THEMES; theme += 4) {
      const view = near(theme);
      const all = (await find(view, { smartfilter: 'off', rows: 1000 })).hits;
      const maxDistance = all[25]?.distance ?? 0;
      const page = await find(view, { maxDistance });
      expect(page).toMatchObject({ numFound: 26, numFoundExact: true, ranking: { exact: true } });
      expect(ids(page)).toEqual(all.slice(0, 10).map(({ id }) => id));
      const odd = all.slice(0, 26).filter(({ id }) => Number(id.slice(1)) % 2 === 1);
      const filtered = await find(view, {
        maxDistance,
        fq: ['half:1'],
        start: 2,
        facets: [{ kind: 'query', query: parseQuery('half:1') }],
      });
      expect(filtered.numFound).toBe(odd.length);
      expect(ids(filtered)).toEqual(odd.slice(2, 12).map(({ id }) => id));
      expect(filtered.facets).toMatchObject([{ count: odd.length }]);
      expect(await find(view, { maxDistance, rows: 0 })).toMatchObject({ numFound: 26 });
      expect(await find(view, { maxDistance, start: 900 })).toMatchObject({ numFound: 26, hits: [] });
      compared += page.ranking?.distances ?? 0;
    }
    expect(compared).toBeLessThan((COUNT * THEMES) / 4);
  });

  itOnPostgres('puts the document that asks first among its equals, and the others by id', async () => {
    const view = near(1);
    await add(Array.from({ length: 70 }, (_, i) => ({ ...documentOf(50_000 + i, view, 1), id: `twin${10 + i}` })));
    const page = await find(view, { firstId: 'twin66', rows: 4 });
    expect(page.hits.map(({ id, distance }) => [id, distance])).toEqual([
      ['twin66', 0],
      ['twin10', 0],
      ['twin11', 0],
      ['twin12', 0],
    ]);
    const filtered = await find(view, { fq: ['id:twin*'], rows: 100 });
    expect(filtered.hits).toHaveLength(70);
    await add(Array.from({ length: 70 }, (_, i) => ({ kind: 'delete', id: `twin${10 + i}` })));
    expect(ids(await find(view, { rows: 100 })).filter((id) => id.startsWith('twin'))).toEqual([]);
  });

  itOnPostgres('sees what was updated, deleted and added since the vectors were read', async () => {
    const view = near(2);
    const before = ids(await find(view, { rows: 20 }));
    const [first = '', second = ''] = before;
    const moved = documentOf(Number(first.slice(1)), near(20), 20);
    await add([moved, { kind: 'delete', id: second }, { ...documentOf(9_000, view, 2), id: 'new' }]);
    const after = await find(view, { rows: 20 });
    expect(ids(after).slice(0, 1)).toEqual(['new']);
    expect(ids(after)).not.toContain(first);
    expect(ids(after)).not.toContain(second);
    expect(after.hits).toHaveLength(20);
    expect(after.numFound).toBe(COUNT);
    await maintain(store);
    expect(ids(await find(view, { rows: 20 }))).toEqual(ids(after));
    await add([{ kind: 'delete', id: 'new' }]);
  });

  it('answers from the commit that the search reads while others are made', async () => {
    const { numFound: count } = await find(near(1));
    let done = false;
    const committing = (async () => {
      for (let round = 0; round < 8; round++) {
        await add([{ ...documentOf(60_000 + round, near(round % THEMES), round % THEMES), id: 'same' }]);
      }
      done = true;
    })();
    for (let round = 0; !done || round < 5; round++) {
      const page = await find(near(round % THEMES));
      expect(page.hits).toHaveLength(10);
      expect([count, count + 1]).toContain(page.numFound);
      expect(page.ranking?.inMemory).toBe(true);
    }
    await committing;
    await add([{ kind: 'delete', id: 'same' }]);
    // How many searches there were, and so how much was drawn, depends on the time.
    random = createRandom(4);
    expect(await recall(() => [])).toBeGreaterThanOrEqual(0.98);
  });

  itOnPostgres('remembers filters over commits, but for those that are not to be', async () => {
    const view = near(8);
    const filter = parseQuery('tenth:7');
    const ask = (uncached: ReadonlySet<typeof filter>) =>
      search(store, collection, {
        query: parseQuery('*:*'),
        filters: [filter],
        rows: 10,
        uncached,
        rank: { module: 'view', vector: Float32Array.from(view) },
      });
    const before = store.inMemory.use.filters;
    const once = await ask(new Set([filter]));
    expect(store.inMemory.use.filters).toBe(before);
    const again = await ask(new Set());
    expect(again).toMatchObject({ numFound: once.numFound, ranking: { inMemory: true } });
    const held = store.inMemory.use.filters;
    await add([{ ...documentOf(80_007, view, 8), id: 'seventh' }]);
    const grown = await ask(new Set());
    expect([grown.numFound, grown.hits[0]?.id]).toEqual([once.numFound + 1, 'seventh']);
    expect(store.inMemory.use.filters).toBe(held);
    await add([{ kind: 'delete', id: 'seventh' }]);
    expect((await ask(new Set())).numFound).toBe(once.numFound);
  });

  itOnPostgres('keeps no filter longer than it is used, however often a search names it', async () => {
    const view = near(10);
    for (let n = 0; n < 210; n++) await find(view, { fq: [`n:${n}`, `n:${n}`], rows: 1 });
    expect(store.inMemory.use.filters).toBeLessThanOrEqual(200);
    const before = store.inMemory.use.filters;
    await Promise.all(Array.from({ length: 5 }, () => find(view, { fq: ['n:777'], rows: 1 })));
    expect(store.inMemory.use.filters).toBeLessThanOrEqual(before + 1);
  });

  itOnPostgres('does not answer from a commit that it passed over', async () => {
    const held = await store.engine.transaction((tx) => store.inMemory.find(collection, tx, 0n, 'view'));
    expect(held).toBeUndefined();
    const view = near(12);
    const { commit: before } = await find(view);
    await add([{ ...documentOf(90_000, view, 12), id: 'passing' }]);
    await add([{ ...documentOf(90_001, view, 12), id: 'passing' }]);
    expect((await find(view)).commit).toBe(before + 2);
    // A search that began at the commit between has to look elsewhere: what it saw was never read.
    expect(
      await store.engine.transaction((tx) => store.inMemory.find(collection, tx, BigInt(before + 1), 'view')),
    ).toBeUndefined();
    expect(
      await store.engine.transaction((tx) => store.inMemory.find(collection, tx, BigInt(before + 2), 'view')),
    ).toBeDefined();
    await add([{ kind: 'delete', id: 'passing' }]);
  });

  itOnPostgres('reads all again when it missed rows that went, and when its threads end', async () => {
    const view = near(4);
    const { numFound: count } = await find(view);
    // Grace is over at once: what these commits replaced is gone before anybody searches.
    await add([{ ...documentOf(70_000, view, 4), id: 'short' }]);
    await add([
      { kind: 'delete', id: 'short' },
      { ...documentOf(70_001, view, 4), id: 'long' },
    ]);
    await maintain(store);
    const page = await find(view);
    expect(ids(page)[0]).toBe('long');
    expect(page.numFound).toBe(count + 1);
    const watched = watchThreads('searcher');
    await using inMemory = new InMemorySearch({ exactRows: LIMIT });
    const query = parseQuery('*:*');
    const ask = () =>
      search({ ...store, inMemory }, collection, {
        query,
        rank: { module: 'view', vector: Float32Array.from(view) },
        rows: 1,
      });
    for (let round = 0; round < 2; round++) {
      // The one that notices is answered by the database.
      expect(await ask()).toMatchObject({ numFound: count + 1, ranking: { inMemory: round === 0 } });
      expect(await ask()).toMatchObject({ numFound: count + 1, ranking: { inMemory: true } });
      await watched.threads.at(-1)?.terminate();
    }
    watched.end();
    await add([{ kind: 'delete', id: 'long' }]);
  });

  it('compares everything in the database where memory does not suffice', async () => {
    const small = { ...store, inMemory: new InMemorySearch({ exactRows: LIMIT, memory: 1_000 }) };
    const view = near(6);
    const vector = Float32Array.from(view);
    const request = { query: parseQuery('half:1'), rank: { module: 'view', vector }, rows: 10 };
    const page = await search(small, collection, request);
    const inMemory = await find(view, { fq: ['half:1'], smartfilter: 'off' });
    expect(inMemory.ranking).toMatchObject({ exact: true, inMemory: true });
    expect(page).toMatchObject({ numFound: inMemory.numFound, ranking: { exact: true, inMemory: false } });
    expect(ids(page)).toEqual(ids(inMemory));
    // Large collections are compared so by few at a time.
    using first = small.inMemory.databaseTurn();
    using second = small.inMemory.databaseTurn();
    for (const turn of [first, second]) turn.take();
    await expect(search(small, collection, request)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 3,
    });
  });
});
