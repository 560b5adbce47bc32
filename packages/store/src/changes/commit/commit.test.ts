import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { maintain } from '../../../test/maintain.ts';
import { accept, changesOf, ENGINES, remove, removeMatching, testOutputs, visible } from '../../../test/support.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { listOperations } from '../accept/operations.ts';
import { Staging } from '../accept/staging.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

describe.each(ENGINES)('commits on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const { reopen } = freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  describe('of changes', () => {
    it('replaces as a whole, deletes, and counts', async () => {
      await accept(store, collection, [
        { id: 'a', n: 1, extra: 'x' },
        { id: 'b', n: 1 },
        { id: 'c', n: 1 },
      ]);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 3, failed: 0 });
      await accept(store, collection, [{ id: 'a', n: 2 }, remove('b'), remove('unknown')]);
      const waiting = { documents: 3, commit: 1, pending: 3, pendingSince: expect.any(Date) };
      expect(await collectionStatus(store, collection)).toMatchObject(waiting);
      expect(await commit(store, collection)).toEqual({ commit: 2, applied: 3, failed: 0 });
      expect(await visible(store, collection, 'n')).toEqual([
        ['a', 2n],
        ['c', 1n],
      ]);
      expect(await visible(store, collection, 'extra')).toEqual([
        ['a', null],
        ['c', null],
      ]);
      expect(await collectionStatus(store, collection)).toMatchObject({
        documents: 2,
        commit: 2,
        pending: 0,
        pendingSince: null,
        failed: 0,
      });
    });

    itOnPostgres('keeps its number if there is nothing to do', async () => {
      expect(await commit(store, collection)).toEqual({ commit: 0, applied: 0, failed: 0 });
      await accept(store, collection, [{ id: 'a' }]);
      await commit(store, collection);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 0, failed: 0 });
    });

    itOnPostgres('applies the last of several changes to one id, within a request and across', async () => {
      await accept(store, collection, [
        { id: 'a', n: 1 },
        { id: 'a', n: 2 },
        { id: 'b', n: 1 },
        remove('b'),
        remove('c'),
        { id: 'c', n: 3 },
      ]);
      await accept(store, collection, [{ id: 'a', n: 4 }]);
      await commit(store, collection);
      expect(await visible(store, collection, 'n')).toEqual([
        ['a', 4n],
        ['c', 3n],
      ]);
      const { operations } = await listOperations(store, collection, { limit: 10 });
      expect(operations.map(({ state }) => state)).toEqual([
        'superseded',
        'superseded',
        'superseded',
        'visible',
        'superseded',
        'visible',
        'visible',
      ]);
      expect((await collectionStatus(store, collection)).documents).toBe(2);
    });

    it('shares the next commit among calls during a commit', async () => {
      const committing = [commit(store, collection)];
      await accept(store, collection, [{ id: 'a' }]);
      committing.push(commit(store, collection), commit(store, collection));
      expect((await Promise.all(committing)).map((result) => result.commit).at(-1)).toBe(1);
      expect(await visible(store, collection)).toEqual(['a']);
    });

    it('fails an operation that the database refuses, and applies all others', async () => {
      await accept(store, collection, [
        ...Array.from({ length: 9 }, (_, i) => ({ id: `good${i}` })),
        // A text with NUL, which only the database notices.
        { id: 'poison', import: testOutputs({ names: ['\0'] }) },
        { id: 'broken', import: testOutputs({ names: ['red'] }) },
        { id: 'good9' },
      ]);
      await store.engine.query(
        `update ${collection.sqlSchema}.operations set analysis = 'damaged' where id = 'broken'`,
      );
      const result = await commit(store, collection);
      expect(result).toEqual({ commit: 1, applied: 10, failed: 2 });
      expect(await visible(store, collection)).toHaveLength(10);
      const failed = await listOperations(store, collection, { state: 'failed', limit: 10 });
      expect(failed.operations.map(({ id, error }) => [id, error?.code])).toEqual([
        ['poison', 'bad-request'],
        ['broken', 'internal'],
      ]);
      expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 2 });
      expect(await commit(store, collection)).toMatchObject({ commit: 1, failed: 0 });
    });

    it('continues an interrupted commit, also in another process', async () => {
      await accept(store, collection, [
        { id: 'a', n: 1 },
        { id: 'b', n: 1 },
      ]);
      await commit(store, collection);
      await accept(store, collection, [{ id: 'a', n: 2 }, { id: 'c', n: 2 }, removeMatching('n:1')]);
      // A commit that dies just before it publishes.
      await store.engine.query(
        `create function ${collection.sqlSchema}.die() returns trigger language plpgsql as 'begin raise exception ''killed''; end'`,
      );
      await store.engine.query(
        `create trigger die before update of commit on akin.collections for each row when (new.commit <> old.commit and new.id = ${collection.id}) execute function ${collection.sqlSchema}.die()`,
      );
      await expect(commit(store, collection)).rejects.toMatchObject({ code: 'internal' });
      expect(await visible(store, collection, 'n')).toEqual([
        ['a', 1n],
        ['b', 1n],
      ]);
      await store.engine.query('drop trigger die on akin.collections');
      await reopen();
      expect(await visible(store, collection, 'n')).toEqual([
        ['a', 1n],
        ['b', 1n],
      ]);
      expect(await collectionStatus(store, collection)).toMatchObject({ documents: 2, commit: 1, pending: 3 });
      await accept(store, collection, [{ id: 'a', n: 3 }]);
      expect(await commit(store, collection)).toEqual({ commit: 2, applied: 4, failed: 0 });
      expect(await visible(store, collection, 'n')).toEqual([
        ['a', 3n],
        ['c', 2n],
      ]);
      expect((await collectionStatus(store, collection)).documents).toBe(2);
    });

    it('continues a commit that was interrupted between two pieces', async () => {
      const many = Array.from({ length: 600 }, (_, i) => ({ id: `many${i}` }));
      const staging = new Staging(store, collection);
      await staging.add(await changesOf(store, collection, many));
      await staging.accept();
      const stop = new AbortController();
      // When a part of it is applied.
      const query = store.engine.transaction.bind(store.engine);
      let pieces = 0;
      store.engine.transaction = (run, options) => {
        if (options?.lane === 'bulk' && ++pieces === 3) stop.abort(new Error('the process ends'));
        return query(run, options);
      };
      await expect(commit(store, collection, undefined, stop.signal)).rejects.toThrow('the process ends');
      store.engine.transaction = query;
      const { pending, documents } = await collectionStatus(store, collection);
      expect([documents, pending]).toEqual([0, 600]);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 600, failed: 0 });
    });

    itOnPostgres('removes documents that no search can see, with all their data', async () => {
      const outputs = testOutputs({ shape: [1, 0, 0, 0] });
      await accept(store, collection, [
        { id: 'a', import: outputs },
        { id: 'b', import: outputs },
      ]);
      await commit(store, collection);
      await accept(store, collection, [{ id: 'a', import: outputs }, remove('b')]);
      await commit(store, collection);
      await maintain(store);
      const S = collection.sqlSchema;
      for (const table of ['documents', 'descriptors_shape']) {
        expect([table, await store.engine.query(`select doc from ${S}.${table}`)]).toEqual([table, [{ doc: 3n }]]);
      }
      expect(await store.engine.query(`select * from ${S}.barriers`)).toEqual([]);
      expect(await store.engine.query(`select document from ${S}.operations where document is not null`)).toEqual([]);
    });
  });

  describe('of documents at the limits', () => {
    const commits = async (document: object) => {
      await accept(store, collection, [document]);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 1, failed: 0 });
      expect(await visible(store, collection)).toHaveLength(1);
    };
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => [`n${i}`, i + 0.5]);
    const texts = (count: number) => Array.from({ length: count }, (_, i) => [`t${i}`, `text number ${i} `.repeat(3)]);
    /** Pairs of characters that rarely repeat: the maximum number of words for so many bytes. */
    const chinese = (length: number) => {
      let seed = 1;
      const next = () => (seed = (seed * 48_271) % 2_147_483_647);
      return String.fromCodePoint(...Array.from({ length }, () => 0x4e00 + (next() % 20_000)));
    };

    it.each([
      ['an id of 512 bytes', { id: 'ü'.repeat(256), import: testOutputs({ shape: [1, 0, 0, 0] }) }],
      [
        '850 numbers',
        { id: 'a', ...Object.fromEntries(numbers(850)), import: testOutputs({ shape: [1, 0, 0, 0], names: ['red'] }) },
      ],
      [
        '285 texts',
        { id: 'a', ...Object.fromEntries(texts(285)), import: testOutputs({ shape: [1, 0, 0, 0], names: ['red'] }) },
      ],
      ['words of 255 characters with 4 bytes each', { id: 'a', text1: `${'𞤢'.repeat(300)} ${'x'.repeat(5000)}` }],
      ['one word 200,000 times', { id: 'a', long: 'ab '.repeat(160_000) }],
      [
        'the greatest and smallest of every type',
        {
          id: 'a',
          n: -Number.MAX_VALUE,
          tiny: 5e-324,
          zero: -0,
          first: '0001-01-01',
          last: '9999-12-31T23:59:59.999Z',
        },
      ],
    ])('commits %s', (_, document) => commits(document));

    it('commits the maximum number of different words', async () => {
      const isAccepted = async (length: number) =>
        changesOf(store, collection, [{ id: 'a', long: chinese(length) }]).then(
          () => true,
          () => false,
        );
      // The maximum is between them.
      let [accepted, refused] = [15_000, 100_000];
      while (refused - accepted > 500) {
        const middle = (accepted + refused) >> 1;
        if (await isAccepted(middle)) accepted = middle;
        else refused = middle;
      }
      expect(accepted).toBeGreaterThan(15_000);
      await commits({ id: 'a', long: chinese(accepted), import: testOutputs({ names: ['red'] }) });
    });
  });
});
