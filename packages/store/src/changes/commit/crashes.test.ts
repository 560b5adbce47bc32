import { afterAll, describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { accept, testOutputs, visible } from '../../../test/support.ts';
import { watchThreads } from '../../../test/threads.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { findOperation } from '../accept/operations.ts';
import { claimForAnalysis, saveAnalysis } from '../analyze/analysis.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

describe('a delete by query that crashes the thread of the embedded database', () => {
  const watched = watchThreads('pglite-thread');
  let store: Store;
  let collection: Collection;
  let crashing = true;
  freshCollections('pglite', (fresh) => {
    ({ store, collection } = fresh);
  });
  afterAll(() => watched.end());

  /** The store, with a thread that ends at each statement of the delete, as if the statement caused it. */
  const crashingStore = (): Store => {
    const { engine } = store;
    const query: (tx: Queryable) => Queryable['query'] = (tx) => (sql, params) => {
      if (!crashing || !/^select d\.doc/.test(sql)) return tx.query(sql, params) as never;
      // A statement that takes minutes, so that it cannot be answered before its thread ends.
      const counting = tx.query('select count(*) from generate_series(1, 2000000000)');
      void watched.threads.at(-1)?.terminate();
      return counting as never;
    };
    const transaction: typeof engine.transaction = (work, options) =>
      engine.transaction((tx, first) => work({ ...tx, query: query(tx) }, first), options);
    return { ...store, engine: { ...engine, transaction } };
  };

  it('fails alone at the third time, and all others are applied, also late documents', async () => {
    await accept(store, collection, [{ id: 'early', n: 5 }]);
    await accept(store, collection, [{ id: 'late', image: 'https://example.com/a.jpg' }]);
    const { first } = await accept(store, collection, [{ kind: 'delete-by-query', query: 'n:5' }]);
    await accept(store, collection, [{ id: 'after', n: 5 }]);
    const broken = crashingStore();
    for (let i = 0; i < 2; i++) await expect(commit(broken, collection)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await commit(broken, collection)).toEqual({ commit: 1, applied: 2, failed: 1 });
    expect(await visible(store, collection)).toEqual(['after', 'early']);
    expect(await findOperation(store, collection, first)).toMatchObject({
      state: 'failed',
      error: { code: 'bad-request', msg: expect.stringContaining('3 times in a row') },
    });

    crashing = false;
    const second = await accept(store, collection, [{ kind: 'delete-by-query', query: 'n:5' }]);
    await commit(broken, collection);
    expect(await visible(store, collection)).toEqual([]);
    crashing = true;
    const [task] = await claimForAnalysis(store, 1);
    if (task === undefined) throw new Error('nothing to analyze');
    await saveAnalysis(store, task, testOutputs({ names: ['red'] }));
    for (let i = 0; i < 2; i++) await expect(commit(broken, collection)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await commit(broken, collection)).toMatchObject({ applied: 1, failed: 1 });
    expect(await visible(store, collection)).toEqual(['late']);
    expect(await findOperation(store, collection, second.first)).toMatchObject({ state: 'failed' });
    expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 2 });
  });
});
