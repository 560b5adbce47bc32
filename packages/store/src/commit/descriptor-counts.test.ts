import { parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { accept, ENGINES, openTestStore, testLocation, testOutputs } from '../../test/support.ts';
import { createCollection } from '../collections/collections.ts';
import { search } from '../search/search.ts';
import { withSnapshot } from '../search/snapshot.ts';
import { commit } from './commit.ts';

describe.each(ENGINES)('the count of descriptors on %s', (kind) => {
  it('follows every change', async () => {
    const { location, remove } = await testLocation(kind);
    const store = await openTestStore(location);
    try {
      const collection = await createCollection(store, 'shop');
      const counted = () => withSnapshot(store, collection, async (snapshot) => snapshot.descriptorCounts.get('shape'));
      const ranked = async () => {
        const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
        const result = await search(store, collection, { query: parseQuery('*:*'), rank, rows: 1 });
        return [result.numFound, result.numFoundExact];
      };
      const outputs = testOutputs({ shape: [1, 0, 0, 0] });
      const documents = Array.from({ length: 10 }, (_, i) => ({
        id: `d${i}`,
        n: i,
        ...(i % 2 === 0 ? { import: outputs } : {}),
      }));
      await accept(store, collection, documents);
      expect(await counted()).toBe(0);
      await commit(store, collection);
      expect(await counted()).toBe(5);
      expect(await ranked()).toEqual([5, true]);
      // Replaced with and without, deleted by id and by query, and added twice within one commit.
      await accept(store, collection, [
        { id: 'd0', n: 0 },
        { id: 'd1', n: 1, import: outputs },
        { id: 'd2', n: 2, import: outputs },
      ]);
      await accept(store, collection, [
        { kind: 'delete', id: 'd4' },
        { id: 'e', import: outputs },
      ]);
      await accept(store, collection, [
        { id: 'e', import: outputs },
        { id: 'f', n: 8, import: outputs },
      ]);
      await accept(store, collection, [{ kind: 'delete-by-query', query: 'n:[8 TO *]' }]);
      await commit(store, collection);
      // d1, d2, d6 and e.
      expect(await counted()).toBe(4);
      expect(await ranked()).toEqual([4, true]);
      await accept(store, collection, [{ kind: 'delete-by-query', query: '*:*' }]);
      await commit(store, collection);
      expect(await counted()).toBe(0);
      expect(await ranked()).toEqual([0, true]);
    } finally {
      await store[Symbol.asyncDispose]();
      await remove();
    }
  });
});
