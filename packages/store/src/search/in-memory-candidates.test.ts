import { type AkinError, parseQuery, type Query } from '@akin/domain';
import { scaledByChaos } from '@akin/testing';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyQuery, parsed } from '../../test/any-query.ts';
import { searchShop } from '../../test/search-shop.ts';
import type { Shop } from '../../test/shop.ts';
import { ENGINES } from '../../test/support.ts';
import type { Store } from '../changes/context.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';
import { InMemorySearch } from './searcher/in-memory-search.ts';

const RUNS = scaledByChaos(20);

describe.each(ENGINES)('facet.query of ranked searches on %s', (kind) => {
  const inDatabase = new InMemorySearch({ exactRows: 10, memory: 0 });
  let shop: Shop;
  searchShop(kind, (made) => {
    shop = made;
  });
  afterAll(() => inDatabase[Symbol.asyncDispose]());

  const ask = async (store: Store, request: Partial<SearchRequest>) => {
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    const { numFound, facets, ranking } = await search(store, shop.collection, {
      query: parseQuery('*:*'),
      rank,
      rows: 2,
      ...request,
    });
    return { numFound, facets, inMemory: ranking?.inMemory };
  };

  it('counts by the filters in memory what the database counts, whatever is asked', async () => {
    /** @returns whether the request was answered, not refused */
    const check = async (first: Query, second: Query, third: Query): Promise<boolean> => {
      const request: Partial<SearchRequest> = {
        filters: [first, second],
        facets: [
          { kind: 'query', query: third },
          { kind: 'query', query: third, excludedQueries: new Set([first]) },
          { kind: 'field', field: 'sold', limit: 5, offset: 0, mincount: 1, sort: 'count', missing: true },
          { kind: 'query', query: first, excludedQueries: new Set([first, second]) },
        ],
      };
      const outcomes = [];
      for (const inMemory of [shop.store.inMemory, inDatabase]) {
        outcomes.push(
          await ask({ ...shop.store, inMemory }, request).catch((error: AkinError) => {
            if (error.code !== 'bad-request') throw error;
            return error.message;
          }),
        );
      }
      const [memory, database] = outcomes;
      if (typeof memory === 'string') {
        expect(database).toBe(memory);
        return false;
      }
      expect(memory).toMatchObject({ inMemory: true });
      expect(database).toEqual({ ...(memory as object), inMemory: false });
      return true;
    };
    await fc.assert(
      fc.asyncProperty(anyQuery, anyQuery, anyQuery, async (...texts) => {
        const all: Query = { kind: 'all' };
        const [first = all, second = all, third = all] = texts.map(parsed);
        // Few find anything together; one alone does.
        const isAnswered = await check(first, { kind: 'bool', must: [all], should: [], mustNot: [second] }, third);
        // Only runs with an answer count.
        fc.pre((await check(all, all, third)) || isAnswered);
      }),
      { numRuns: RUNS },
    );
  });

  it('asks the database for a new one once, and each time where it is not to be remembered', async () => {
    const asked: string[] = [];
    const { engine } = shop.store;
    const transaction: typeof engine.transaction = (run, options) =>
      engine.transaction((tx, first) => {
        const query: typeof tx.query = (sql, params) => {
          asked.push(sql);
          return tx.query(sql, params);
        };
        return run({ ...tx, query }, first);
      }, options);
    const store = { ...shop.store, engine: { ...engine, transaction } };
    const query = parseQuery('title:shoe AND price:[* TO 100]');
    const more = parseQuery('price:[5 TO *]');
    const facets = [query, more].map((one) => ({ kind: 'query', query: one }) as const);
    const statementsOf = async (request: Partial<SearchRequest>) => {
      asked.length = 0;
      const { facets: counted } = await ask(store, { facets, ...request });
      return { counted, statements: asked.length };
    };
    const first = await statementsOf({});
    const again = await statementsOf({});
    expect(again.counted).toEqual(first.counted);
    // Both new ones came in one statement.
    expect(again.statements).toBe(first.statements - 1);
    const { filters } = shop.store.inMemory.use;
    const uncached = await statementsOf({ uncached: new Set([query, more]) });
    expect(uncached).toEqual(first);
    expect(shop.store.inMemory.use.filters).toBe(filters);
    const many = Array.from({ length: 51 }, (_, n) => ({ kind: 'query', query: parseQuery(`price:${n}`) }) as const);
    await statementsOf({ facets: many });
    expect(shop.store.inMemory.use.filters).toBe(filters);
  });
});
