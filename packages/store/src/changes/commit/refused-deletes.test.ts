import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { reindex, workOf } from '../../../test/reindexing.ts';
import { accept, ENGINES, removeMatching, testOutputs, visible } from '../../../test/support.ts';
import { collectionStatus, createCollection, findCollection } from '../../database/collections/collections.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import { findOperation, listOperations } from '../accept/operations.ts';
import { claimForAnalysis, saveAnalysis } from '../analyze/analysis.ts';
import { retryFailed } from '../analyze/retry.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

const PICTURE = { image: 'https://example.com/a.jpg' };

describe.each(ENGINES)('deletes by query that cannot be run on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  /** Renames the column of the field n, as somebody with psql might. Then the delete of n cannot be run. */
  const breakField = async () => {
    const column = (await loadSchema(store, collection)).columns.get('n');
    if (column?.kind !== 'column') throw new Error('no field n');
    const rename = (from: string, to: string) =>
      store.engine.query(`alter table ${collection.sqlSchema}.documents rename ${from} to ${to}`);
    await rename(column.sql, 'elsewhere');
    return () => rename('elsewhere', column.sql);
  };
  /** What an earlier version accepted. */
  const acceptUnchecked = async (query: string) => {
    const { first } = await accept(store, collection, [removeMatching('id:nothing')]);
    await store.engine.query(
      `update ${collection.sqlSchema}.operations set document = $1 where document = 'id:nothing'`,
      [query],
    );
    return first;
  };

  describe('before they are accepted', () => {
    itOnPostgres.each(['((', 'unknown:1', 'n:abc', '{!geofilt}', `id:${'x'.repeat(50)}~`])(
      'refuses %s',
      async (query) => {
        await accept(store, collection, [{ id: 'a', n: 1 }]);
        await expect(accept(store, collection, [removeMatching(query)])).rejects.toMatchObject({ code: 'bad-request' });
      },
    );

    it('refuses a delete that the database cannot plan, and names the query', async () => {
      await accept(store, collection, [{ id: 'a', n: 1 }]);
      await breakField();
      await expect(accept(store, collection, [removeMatching('n:5')])).rejects.toMatchObject({
        code: 'bad-request',
        message: 'The database cannot run the query "n:5" of a delete. Change it, for example to fewer clauses.',
      });
    });

    itOnPostgres('plans deletes of fields that the same request defines', async () => {
      await accept(store, collection, [
        { id: 'a', n: 1, name: 'x', taken: '2024-01-31', sold: true, weight: 1.5 },
        { id: 'b', n: 2, name: 'y', taken: '2024-02-01', sold: false, weight: 2.5 },
        removeMatching('n:1 AND name:x* AND taken:2024-01-31 AND sold:true AND weight:[1 TO 2]'),
        removeMatching('{!words f=name}z'),
      ]);
      expect(await commit(store, collection)).toMatchObject({ failed: 0 });
      expect(await visible(store, collection)).toEqual(['b']);
    });

    itOnPostgres('deletes documents with any text', async () => {
      await accept(store, collection, [{ id: 'a' }, { id: '?' }, removeMatching('[* TO *]')]);
      expect(await commit(store, collection)).toMatchObject({ failed: 0 });
      expect(await visible(store, collection)).toEqual(['?']);
    });
  });

  describe('at a commit', () => {
    itOnPostgres.each(['((', 'unknown:1'])(
      'fails %s, which an earlier version accepted, and applies all others',
      async (query) => {
        await accept(store, collection, [{ id: 'a', n: 1 }]);
        const seq = await acceptUnchecked(query);
        await accept(store, collection, [{ id: 'b', n: 1 }]);
        expect(await commit(store, collection)).toEqual({ commit: 1, applied: 2, failed: 1 });
        expect(await visible(store, collection)).toEqual(['a', 'b']);
        expect(await findOperation(store, collection, seq)).toMatchObject({
          state: 'failed',
          error: { code: 'bad-request', msg: expect.any(String) },
        });
        expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 1 });
      },
    );

    it('fails a delete that the database refuses, with the reason, and applies it after a retry', async () => {
      await accept(store, collection, [
        { id: 'a', n: 5 },
        { id: 'b', n: 6 },
      ]);
      await commit(store, collection);
      await accept(store, collection, [removeMatching('n:5'), removeMatching('id:b')]);
      const mend = await breakField();
      expect(await commit(store, collection)).toEqual({ commit: 2, applied: 1, failed: 1 });
      const { operations } = await listOperations(store, collection, { state: 'failed', limit: 10 });
      expect(operations).toMatchObject([
        { kind: 'delete-by-query', error: { code: 'bad-request', msg: expect.stringContaining('does not exist') } },
      ]);
      await mend();
      expect(await retryFailed(store, collection)).toEqual({ retried: 1, superseded: 0, conflicting: 0 });
      expect(await commit(store, collection)).toEqual({ commit: 3, applied: 1, failed: 0 });
      expect(await visible(store, collection)).toEqual([]);
    });

    itOnPostgres('fails a delete that cannot be applied to a late document, and shows the document', async () => {
      await accept(store, collection, [{ id: 'early', n: 5 }]);
      await accept(store, collection, [{ id: 'late', ...PICTURE }]);
      const { first } = await accept(store, collection, [removeMatching('n:5')]);
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
      const mend = await breakField();
      const [task] = await claimForAnalysis(store, 1);
      if (task === undefined) throw new Error('nothing to analyze');
      await saveAnalysis(store, task, testOutputs({ names: ['red'] }));
      expect(await commit(store, collection)).toEqual({ commit: 2, applied: 1, failed: 1 });
      expect(await visible(store, collection)).toEqual(['late']);
      expect(await findOperation(store, collection, first)).toMatchObject({
        state: 'failed',
        error: { msg: expect.stringContaining('does not exist') },
      });
      await mend();
      await retryFailed(store, collection);
      expect(await commit(store, collection)).toEqual({ commit: 3, applied: 1, failed: 0 });
      expect(await visible(store, collection)).toEqual(['late']);
    });

    it('fails once if documents of several shards come late together', async () => {
      if (kind === 'pglite') return;
      collection = await createCollection(store, 'sharded', { shards: 4 });
      await accept(store, collection, [{ id: 'early', n: 5 }]);
      await accept(
        store,
        collection,
        Array.from({ length: 12 }, (_, i) => ({ id: `late ${i}`, ...PICTURE })),
      );
      await accept(store, collection, [removeMatching('n:5')]);
      await commit(store, collection);
      await breakField();
      for (const task of await claimForAnalysis(store, 20)) {
        await saveAnalysis(store, task, testOutputs({ names: ['red'] }));
      }
      const { result } = await store.engine.transaction(async (tx) => {
        // All shards reach the delete before one of them can report that it failed.
        await tx.query(`lock table ${collection.sqlSchema}.barriers in exclusive mode`);
        const running = commit({ ...store, shardsFrom: 0 }, collection);
        for (;;) {
          const [row] = await store.engine.query<{ waiting: number }>(
            `select count(*)::int as waiting from pg_locks where not granted and relation = '${collection.sqlSchema}.barriers'::regclass`,
          );
          if (row?.waiting === 4) return { result: running };
        }
      });
      expect(await result).toEqual({ commit: 2, applied: 12, failed: 1 });
      expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 1, documents: 12 });
    });

    itOnPostgres('does not stop a reindex', async () => {
      await accept(store, collection, [{ id: 'a', n: 1 }]);
      await acceptUnchecked('((');
      const before = collection.id;
      await reindex(store, collection, workOf(store));
      collection = await findCollection(store, collection.name);
      expect(collection.id).not.toBe(before);
      expect(await visible(store, collection)).toEqual(['a']);
      expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 1 });
    });
  });
});
