import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accept, ENGINES, openTestStore, testOutputs, testPlace, visible } from '../test/support.ts';
import { type Collection, collectionStatus, createCollection } from './collections.ts';
import { applyAhead, commit } from './commit.ts';
import { listOperations } from './operations.ts';
import type { Store } from './store.ts';

describe.each(ENGINES)('what is applied ahead of a commit on %s', (kind) => {
  let store: Store;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const { place, remove: end } = await testPlace(kind);
    remove = end;
    store = await openTestStore(place);
  });

  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });

  const documents = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      id: `d${String(from + i).padStart(4, '0')}`,
      import: testOutputs({ shape: [from, i, 1, 1] }),
    }));
  const statesOf = async (collection: Collection) =>
    (await listOperations(store, collection, { limit: 1000 })).operations.map(({ state }) => state);

  it('is seen by nobody, and by all at once with the next commit', async () => {
    const collection = await createCollection(store, 'ahead');
    await accept(store, collection, documents(0, 30));
    await commit(store, collection);
    await accept(store, collection, [...documents(20, 20), { kind: 'delete', id: 'd0000' }]);
    await accept(store, collection, [{ kind: 'delete-by-query', query: 'id:d0001' }]);
    await applyAhead(store, collection);
    expect(await visible(store, collection)).toEqual(documents(0, 30).map(({ id }) => id));
    expect(new Set((await statesOf(collection)).slice(30))).toEqual(new Set(['ready']));
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 30, commit: 1 });
    // What is accepted later stands above what was applied ahead.
    await accept(store, collection, [{ kind: 'delete', id: 'd0039' }, ...documents(1, 1)]);
    expect(await commit(store, collection)).toMatchObject({ commit: 2, applied: 24, failed: 0 });
    expect(await visible(store, collection)).toEqual(documents(1, 38).map(({ id }) => id));
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 38, commit: 2 });
    expect(await commit(store, collection)).toEqual({ commit: 2, applied: 0, failed: 0 });
  });

  it('makes way for a commit, which shows all of it', async () => {
    const collection = await createCollection(store, 'way');
    for (let i = 0; i < 4; i++) await accept(store, collection, documents(60 * i, 60));
    const ahead = applyAhead(store, collection);
    const results = await Promise.all([commit(store, collection), commit(store, collection), ahead]);
    expect(results[0]).toEqual({ commit: 1, applied: 240, failed: 0 });
    expect(await visible(store, collection)).toHaveLength(240);
    expect(new Set(await statesOf(collection))).toEqual(new Set(['visible']));
  });

  it('is left where it is by a signal, and does nothing while a commit is at work', async () => {
    const collection = await createCollection(store, 'signal');
    await accept(store, collection, documents(0, 10));
    await expect(applyAhead(store, collection, undefined, AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    );
    const committing = commit(store, collection);
    await applyAhead(store, collection);
    expect(await committing).toEqual({ commit: 1, applied: 10, failed: 0 });
    expect(await visible(store, collection)).toHaveLength(10);
  });
});
