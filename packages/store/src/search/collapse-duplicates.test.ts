import { createRandom, parseQuery, type Query } from '@akin/domain';
import { afterAll, describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, openTestStore, testOutputs } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';
import { InMemorySearch } from './searcher/in-memory-search.ts';

const COUNT = 240;
const EXACT = 20;

describe.each(ENGINES)('ranked searches with duplicates collapsed on %s', (kind) => {
  const inDatabase = new InMemorySearch({ exactRows: EXACT, memory: 0 });
  let store: Store;
  let collection: Collection;

  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'collapsed');
      const random = createRandom(6);
      const documents = Array.from({ length: COUNT }, (_, n) => {
        const numbers = [random(), random(), random(), random()];
        const length = Math.hypot(...numbers);
        // Every ninth has no picture.
        const shape = numbers.map((number) => number / length);
        return { id: `d${n}`, n, even: n % 2 === 0, ...(n % 9 === 0 ? {} : { import: testOutputs({ shape }) }) };
      });
      await accept(store, collection, documents);
      await commit(store, collection);
      const { sqlSchema: S } = collection;
      // Groups of four, as if their pictures were nearly the same: the first stands for the others.
      await store.engine.query(
        `insert into ${S}.representatives (doc, id, cell, vector, follower_count)
         select doc, id, 0, '[1,0,0,0]', 3 from ${S}.documents where doc % 4 = 1`,
      );
      await store.engine.query(
        `insert into ${S}.followers (doc, representative, distance)
         select doc, doc - (doc - 1) % 4, (doc * 7 % 5) / 10.0 from ${S}.documents where doc % 4 <> 1`,
      );
    },
    (location) => openTestStore(location, 0, { exactDocuments: EXACT }),
  );
  afterAll(() => inDatabase[Symbol.asyncDispose]());

  const ask = async (from: Store, { fq = [], ...request }: Partial<SearchRequest> & { readonly fq?: string[] }) => {
    const rank = { module: 'shape', vector: Float32Array.of(0.8, 0.6, 0, 0), smartfilter: 'off' as const };
    const { numFound, numFoundExact, hits, facets, minDistance, ranking } = await search(from, collection, {
      query: parseQuery('*:*'),
      filters: fq.map((one) => parseQuery(one)),
      rank,
      rows: 10,
      collapse: true,
      facets: [{ kind: 'query', query: parseQuery('n:[0 TO 99]') }],
      ...request,
    });
    const shown = hits.map(({ id, collapsed, distance }) => [id, collapsed, distance]);
    return { result: { numFound, numFoundExact, shown, facets, minDistance }, inMemory: ranking?.inMemory };
  };

  it.each<[string, Partial<SearchRequest> & { readonly fq?: string[] }]>([
    ['everything', {}],
    ['a later page', { start: 37, rows: 20 }],
    ['one half', { fq: ['n:[0 TO 120]'] }],
    ['no representative', { fq: ['-n:(0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60)', 'n:[* TO 63]'] }],
    ['a few', { fq: ['n:[8 TO 14]'], rows: 100 }],
    ['nothing', { fq: ['n:[500 TO *]'] }],
    ['a count alone', { rows: 0 }],
  ])('are ranked in memory as in the database: %s', async (_, request) => {
    for (const maxDistance of [undefined, 0.7]) {
      const rank = {
        module: 'shape',
        vector: Float32Array.of(0.8, 0.6, 0, 0),
        smartfilter: 'off' as const,
        maxDistance,
      };
      const memory = await ask(store, { rank, ...request });
      const database = await ask({ ...store, inMemory: inDatabase }, { rank, ...request });
      expect([memory.inMemory, database.inMemory]).toEqual([true, false]);
      expect(memory.result).toEqual(database.result);
    }
  });

  it.each([undefined, { module: 'shape', vector: Float32Array.of(0.8, 0.6, 0, 0), maxDistance: 0.7 }])(
    'count facets without a filter as if it were not there (%#)',
    async (rank) => {
      const [wide, narrow, counted] = ['n:[0 TO 120]', 'n:[50 TO 90]', 'n:[0 TO 99]'].map((text) => parseQuery(text));
      const facetsOf = (filters: Query[], ...without: Query[]) => {
        const query = { kind: 'query', query: counted as Query, excludedQueries: new Set(without) } as const;
        const field = { kind: 'field', field: 'even', limit: 9, offset: 0, mincount: 1, missing: true } as const;
        return search(store, collection, {
          query: parseQuery('*:*'),
          filters,
          rows: 10,
          collapse: true,
          facets: [query, { ...field, sort: 'count', excludedQueries: new Set(without) }],
          ...(rank && { rank }),
        }).then(({ facets }) => facets);
      };
      const alone = await facetsOf([wide as Query]);
      expect(await facetsOf([wide as Query, narrow as Query], narrow as Query)).toEqual(alone);
      expect(await facetsOf([wide as Query, narrow as Query])).not.toEqual(alone);
    },
  );

  it('have full pages where only estimates are compared', async () => {
    const { result, inMemory } = await ask(store, {
      rank: { module: 'shape', vector: Float32Array.of(0.8, 0.6, 0, 0), smartfilter: 'high' },
      rows: 50,
    });
    expect(inMemory).toBe(true);
    expect(result.numFound).toBeGreaterThanOrEqual(60);
    expect(result.shown).toHaveLength(50);
    expect(new Set(result.shown.map(([id]) => Math.floor(Number(String(id).slice(1)) / 4))).size).toBe(50);
  });
});
