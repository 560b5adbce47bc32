import { parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, testOutputs } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';
import { parseSort } from './sort.ts';

describe.each(ENGINES)('how many match, on %s', (kind) => {
  let store: Store;
  let collection: Collection;

  sharedStore(kind, async (opened) => {
    store = opened;
    collection = await createCollection(store, 'shop');
    const shapes = [[1, 0, 0, 0], [0, 1, 0, 0], undefined];
    const documents = Array.from({ length: 30 }, (_, i) => {
      const shape = shapes[i % 3];
      return { id: `d${i}`, n: i % 5, ...(shape ? { import: testOutputs({ shape }) } : {}) };
    });
    await accept(store, collection, documents);
    await commit(store, collection);
  });

  const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
  const count = async (q: string, request: Partial<SearchRequest> = {}) => {
    const result = await search(store, collection, { query: parseQuery(q), rows: 3, ...request });
    return [result.numFound, result.numFoundExact];
  };

  it('is exact unless less is asked for', async () => {
    expect(await count('*:*')).toEqual([30, true]);
    expect(await count('*:*', { rank })).toEqual([20, true]);
    expect(await count('*:*', { rank, rows: 0 })).toEqual([20, true]);
    expect(await count('n:1')).toEqual([6, true]);
    expect(await count('n:1', { rank })).toEqual([4, true]);
    expect(await count('*:*', { rank: { ...rank, maxDistance: 0.5 } })).toEqual([10, true]);
  });

  it('is exact of everything but what matches', async () => {
    expect(await count('-n:1')).toEqual([24, true]);
    expect(await count('*:* -n:1', { rank })).toEqual([16, true]);
    expect(await count('*:*', { rank, filters: [parseQuery('-n:(1 OR 2)')] })).toEqual([12, true]);
    expect(await count('-n:1', { rank, rows: 0 })).toEqual([16, true]);
    expect(await count('-n:1', { start: 1, sort: parseSort('id asc') })).toEqual([24, true]);
    expect(await count('-n:1 -n:2')).toEqual([18, true]);
    expect(await count('-n:1', { filters: [parseQuery('-n:2')] })).toEqual([18, true]);
    expect(await count('-n:1', { rank: { ...rank, maxDistance: 0.5 } })).toEqual([8, true]);
    expect(await count('-n:[0 TO 9]', { rank })).toEqual([0, true]);
    expect(await count('-n:7', { rank })).toEqual([20, true]);
    expect(await count('-*:*')).toEqual([0, true]);
    expect(await count('-n:1', { minExactCount: 4 })).toEqual([5, false]);
  });

  it('may be a lower bound beyond minExactCount, never below the page', async () => {
    expect(await count('n:1', { minExactCount: 4 })).toEqual([5, false]);
    expect(await count('n:1', { minExactCount: 0 })).toEqual([4, false]);
    expect(await count('n:1', { minExactCount: 6 })).toEqual([6, true]);
    expect(await count('n:1', { minExactCount: 0, start: 5 })).toEqual([6, true]);
    // The searcher knows how many match.
    expect(await count('n:[1 TO 4]', { minExactCount: 2, rank })).toEqual([16, true]);
    // Known without counting.
    expect(await count('*:*', { minExactCount: 0 })).toEqual([30, true]);
  });

  it('needs no look at descriptors when every document has one', async () => {
    const all = await createCollection(store, 'all');
    await accept(
      store,
      all,
      Array.from({ length: 9 }, (_, i) => ({ id: `d${i}`, n: i % 3, import: testOutputs({ shape: [1, 0, 0, 0] }) })),
    );
    await commit(store, all);
    const facets = [{ kind: 'query', query: parseQuery('n:1') }] as const;
    const result = await search(store, all, { query: parseQuery('n:[1 TO 2]'), rank, rows: 2, facets });
    expect(result).toMatchObject({ numFound: 6, numFoundExact: true, facets: [{ count: 3 }] });
  });
});
