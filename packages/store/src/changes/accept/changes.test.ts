import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { maintain } from '../../../test/maintain.ts';
import { accept, ENGINES, remove, removeMatching, testOutputs, visible } from '../../../test/support.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { claimForAnalysis, requeueAll, saveAnalysis } from '../analyze/analysis.ts';
import { commit } from '../commit/commit.ts';
import type { Store } from '../context.ts';
import { findOperation, listOperations } from './operations.ts';

const url = (name: string) => `http://images.example/${name}.jpg`;

describe.each(ENGINES)('changes on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  /** Ends the analyses of some documents, in whatever order they arrived. */
  const analyze = async (...ids: string[]) => {
    const tasks = await claimForAnalysis(store, 100);
    for (const task of tasks) {
      if (ids.includes(task.id)) await saveAnalysis(store, task, testOutputs({ shape: [1, 0, 0, 0], names: ['red'] }));
    }
    // The others are returned to the queue.
    await requeueAll(store, collection);
  };

  describe('changes that finish in another order', () => {
    itOnPostgres('drops a document that arrives after a later one with its id', async () => {
      await accept(store, collection, [{ id: 'a', n: 1, image: url('slow') }]);
      await accept(store, collection, [{ id: 'a', n: 2 }]);
      await commit(store, collection);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection, 'n')).toEqual([['a', 2n]]);
      expect((await findOperation(store, collection, 1)).state).toBe('superseded');
      expect(await store.engine.query(`select * from ${collection.sqlSchema}.descriptors_shape`)).toEqual([]);
    });

    itOnPostgres.each<[string, object[][]]>([
      ['of an id that was never visible', [[remove('a')]]],
      ['long before', [[{ id: 'a', n: 2 }], [remove('a')]]],
      ['by query, of a document that was never visible', [[{ id: 'a', n: 2 }, removeMatching('n:2')]]],
      ['by query', [[{ id: 'a', n: 2 }], [removeMatching('n:2')]]],
    ])('drops a document that arrives after a later delete %s', async (_, later) => {
      await accept(store, collection, [{ id: 'a', n: 1, image: url('slow') }]);
      for (const changes of later) {
        await accept(store, collection, changes);
        await commit(store, collection);
      }
      await maintain(store);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
      expect((await collectionStatus(store, collection)).documents).toBe(0);
    });

    it('applies a delete by query to documents whose analysis ends later, with their outputs', async () => {
      await accept(store, collection, [
        { id: 'late', image: url('late') },
        { id: 'other', n: 1 },
      ]);
      await accept(store, collection, [removeMatching('tint_names:red')]);
      await accept(store, collection, [{ id: 'after', image: url('after') }]);
      await commit(store, collection);
      await maintain(store);
      await analyze('late', 'after');
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual(['after', 'other']);
      expect((await collectionStatus(store, collection)).documents).toBe(2);
      await maintain(store);
      expect(await store.engine.query(`select * from ${collection.sqlSchema}.barriers`)).toEqual([]);
    });
  });

  describe('the list of operations', () => {
    itOnPostgres('pages in accepted order, by state', async () => {
      await accept(store, collection, [{ id: 'a' }, { id: 'b', image: url('b') }]);
      await accept(store, collection, [{ id: 'c' }, remove('d'), { id: 'e', image: url('e') }]);
      const first = await listOperations(store, collection, { limit: 2 });
      expect(first.operations.map(({ seq, id }) => [seq, id])).toEqual([
        [1, 'a'],
        [2, 'b'],
      ]);
      expect(first.next).toBe(2);
      const second = await listOperations(store, collection, { after: 2, limit: 3 });
      expect(second.operations.map(({ seq, kind }) => [seq, kind])).toEqual([
        [3, 'add'],
        [4, 'delete'],
        [5, 'add'],
      ]);
      expect(second.next).toBeUndefined();
      const queued = await listOperations(store, collection, { state: 'queued', limit: 10 });
      expect(queued.operations.map(({ seq, position }) => [seq, position])).toEqual([
        [2, 1],
        [5, 2],
      ]);
      await expect(findOperation(store, collection, 6)).rejects.toMatchObject({ code: 'not-found' });
    });
  });
});
