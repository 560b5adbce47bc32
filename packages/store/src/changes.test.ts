import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  accept,
  changesOf,
  ENGINES,
  openTestStore,
  type TestPlace,
  testOutputs,
  testPlace,
  visible,
} from '../test/support.ts';
import {
  claimForAnalysis,
  failAnalysis,
  listAnalyzing,
  requeueAnalyses,
  requeueStuck,
  saveAnalysis,
} from './analysis.ts';
import { type Collection, collectionStatus, createCollection, dropCollection } from './collections.ts';
import { commit } from './commit.ts';
import { maintain } from './maintain.ts';
import { findOperation, listOperations, waitForOperations } from './operations.ts';
import { retryFailed } from './retry.ts';
import { loadSchema } from './schema.ts';
import { stageChanges } from './staging.ts';
import type { Store } from './store.ts';

const remove = (id: string) => ({ kind: 'delete', id }) as const;
const removeMatching = (query: string) => ({ kind: 'delete-by-query', query }) as const;
const url = (name: string) => `http://images.example/${name}.jpg`;

describe.each(ENGINES)('changes on %s', (kind) => {
  let store: Store;
  let place: TestPlace;
  let removePlace: () => Promise<void>;
  let collection: Collection;
  let number = 0;

  beforeAll(async () => {
    ({ place, remove: removePlace } = await testPlace(kind));
    store = await openTestStore(place);
  });

  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await removePlace?.();
  });

  beforeEach(async () => {
    if (collection !== undefined) await dropCollection(store, collection);
    collection = await createCollection(store, `test-${++number}`);
  });

  const reopen = async () => {
    await store[Symbol.asyncDispose]();
    store = await openTestStore(place);
  };

  /** Ends the analyses of some documents, whatever order they came in. */
  const analyze = async (...ids: string[]) => {
    const tasks = await claimForAnalysis(store, 100);
    for (const task of tasks) {
      if (ids.includes(task.id)) await saveAnalysis(store, task, testOutputs({ shape: [1, 0, 0, 0], names: ['red'] }));
    }
    // The others go back to where they were.
    await requeueStuck(store, 0);
  };

  describe('acceptance', () => {
    it('numbers operations across requests, without gaps', async () => {
      expect(await accept(store, collection, [{ id: 'a' }, { id: 'b' }])).toEqual({ first: 1, last: 2, count: 2 });
      expect(await accept(store, collection, [])).toEqual({ first: 3, last: 2, count: 0 });
      expect(await accept(store, collection, [remove('a')])).toEqual({ first: 3, last: 3, count: 1 });
    });

    it('shows nothing of a request before a commit, and nothing ever of one that was discarded', async () => {
      const discarded = await stageChanges(store, collection);
      await discarded.add(await changesOf(store, collection, [{ id: 'never', brandnew: 1 }]));
      await accept(store, collection, [{ id: 'a', price: 5 }]);
      expect(await visible(store, collection)).toEqual([]);
      await discarded.discard();
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual(['a']);
      expect((await loadSchema(store, collection)).fields.has('brandnew')).toBe(false);
      const S = collection.sqlSchema;
      expect(await store.engine.query(`select request from ${S}.requests`)).toHaveLength(1);
    });

    it('keeps every value as it was sent', async () => {
      const document = {
        id: 'http://x/1 :\u{1f642}"\'\\{}',
        image: 'x.jpg',
        labels: ['a "quoted"', 'b\\c', '', '{}', 'null', 'ü, ö'],
        location: '52.5,-13.25',
        yes: false,
        long: 5,
        double: 0.1,
        date: '2020-02-29T12:00:00.123+02:00',
        string: 'tab\tnewline\n"quote" \\ backslash',
        'né "n"': 'x',
        import: testOutputs({ shape: [0.5, -0.25, 0, 1], names: ['dark red', 'a"b'] }),
      };
      await accept(store, collection, [document]);
      await commit(store, collection);
      const { columns } = await loadSchema(store, collection);
      const [row] = await store.engine.query(`select * from ${collection.sqlSchema}.documents`);
      const stored = (name: string) => {
        const column = columns.get(name);
        return column?.kind === 'column' ? row?.[column.sql] : undefined;
      };
      expect(stored('id')).toBe(document.id);
      expect(stored('labels')).toEqual(document.labels);
      expect([row?.lat, row?.lon]).toEqual([52.5, -13.25]);
      expect(stored('yes')).toBe(false);
      expect(stored('long')).toBe(5n);
      expect(stored('double')).toBe(0.1);
      expect(stored('date')).toEqual(new Date('2020-02-29T10:00:00.123Z'));
      expect(stored('string')).toBe(document.string);
      expect(stored('né "n"')).toBe('x');
      expect(stored('tint_names')).toEqual(['dark red', 'a"b']);
      expect(stored('tint_isolated')).toBe(true);
      expect(stored('tint_freq')).toEqual([0.25, 0.75]);
      expect(stored('tint_free')).toEqual([0n, 8n]);
      expect(stored('shape_cluster')).toBe(3n);
      expect(
        await store.engine.query(`select cell, vector::text as vector from ${collection.sqlSchema}.descriptors_shape`),
      ).toEqual([{ cell: 3, vector: '[0.5,-0.25,0,1]' }]);
      expect(await store.engine.query(`select json from ${collection.sqlSchema}.outputs`)).toEqual([
        { json: document.import },
      ]);
      const words = await store.engine.query(
        `select 1 from ${collection.sqlSchema}.documents where words @@ 'quoted & backslash & dark'::tsquery`,
      );
      expect(words).toHaveLength(1);
    });

    it('lets the first accepted value decide the type when two clients race, and the other fit', async () => {
      const first = await stageChanges(store, collection);
      const second = await stageChanges(store, collection);
      await first.add(await changesOf(store, collection, [{ id: 'a', price: 1.5, code: 'x' }]));
      await second.add(await changesOf(store, collection, [{ id: 'b', price: 5, code: 1.1 }]));
      await first.accept();
      await second.accept();
      await commit(store, collection);
      const { fields } = await loadSchema(store, collection);
      expect([fields.get('price')?.type, fields.get('code')?.type]).toEqual(['double', 'string']);
      expect(await visible(store, collection, 'price')).toEqual([
        ['a', 1.5],
        ['b', 5],
      ]);
      expect(await visible(store, collection, 'code')).toEqual([
        ['a', 'x'],
        ['b', '1.1'],
      ]);
    });

    it('refuses the whole request whose values do not fit what another client defined meanwhile', async () => {
      const first = await stageChanges(store, collection);
      const second = await stageChanges(store, collection);
      await first.add(await changesOf(store, collection, [{ id: 'a', price: 5 }]));
      await second.add(
        await changesOf(store, collection, [
          { id: 'b', other: 1 },
          { id: 'c', price: 1.5 },
          { id: 'd', price: 2.5 },
        ]),
      );
      await first.accept();
      await expect(second.accept()).rejects.toMatchObject({
        code: 'bad-request',
        message: expect.stringContaining('"price"'),
        details: [
          { position: 1, id: 'c' },
          { position: 2, id: 'd' },
        ],
      });
      const { fields } = await loadSchema(store, collection);
      expect(fields.get('price')?.type).toBe('long');
      expect(fields.has('other')).toBe(false);
      expect((await listOperations(store, collection, { limit: 10 })).operations).toHaveLength(1);
    });

    it('takes many requests at once', async () => {
      const accepted = await Promise.all(
        Array.from({ length: 30 }, (_, i) => accept(store, collection, [{ id: `d${i}`, [`f${i % 7}`]: i }])),
      );
      expect(accepted.map(({ first }) => first).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 30 }, (_, i) => i + 1),
      );
      await commit(store, collection);
      expect(await visible(store, collection)).toHaveLength(30);
    });

    it('adds a field while a search runs long', async () => {
      await accept(store, collection, [{ id: 'a' }]);
      let release = () => {};
      const searching = store.engine.transaction(
        async (tx) => {
          await tx.query(`select * from ${collection.sqlSchema}.documents`);
          // PGlite has one connection: a search cannot run beside anything there.
          if (kind === 'postgres') await new Promise<void>((resolve) => (release = resolve));
        },
        { snapshot: true },
      );
      const accepting = accept(store, collection, [{ id: 'b', added: 1 }]);
      if (kind === 'postgres') {
        await new Promise((resolve) => setTimeout(resolve, 400));
        // Others still read while the column waits for its turn.
        await store.engine.query(`select * from ${collection.sqlSchema}.documents`);
      }
      release();
      await searching;
      expect(await accepting).toMatchObject({ count: 1 });
    });

    it.each([
      ['syntax', 'price:[1 TO'],
      ['a field that no document has', 'nosuchfield:1'],
    ])('refuses a delete by query with wrong %s at once', async (_, query) => {
      const staging = await stageChanges(store, collection);
      await expect(staging.add([removeMatching(query)])).rejects.toMatchObject({ code: 'bad-request' });
      await staging.discard();
    });
  });

  describe('commit', () => {
    it('replaces as a whole, deletes, and counts', async () => {
      await accept(store, collection, [
        { id: 'a', n: 1, extra: 'x' },
        { id: 'b', n: 1 },
        { id: 'c', n: 1 },
      ]);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 3, failed: 0 });
      await accept(store, collection, [{ id: 'a', n: 2 }, remove('b'), remove('unknown')]);
      expect(await collectionStatus(store, collection)).toMatchObject({ documents: 3, commit: 1, pending: 3 });
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
        failed: 0,
      });
    });

    it('keeps its number when there is nothing to do', async () => {
      expect(await commit(store, collection)).toEqual({ commit: 0, applied: 0, failed: 0 });
      await accept(store, collection, [{ id: 'a' }]);
      await commit(store, collection);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 0, failed: 0 });
    });

    it('lets the last of several changes to one id win, within a request and across', async () => {
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

    it('deletes by query what was accepted before it, and nothing after', async () => {
      await accept(store, collection, [
        { id: 'a', n: 1 },
        { id: 'b', n: 2 },
      ]);
      await commit(store, collection);
      await accept(store, collection, [{ id: 'c', n: 1 }, removeMatching('n:1'), { id: 'd', n: 1 }, { id: 'a', n: 1 }]);
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual(['a', 'b', 'd']);
      await accept(store, collection, [removeMatching('*:*')]);
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
      expect((await collectionStatus(store, collection)).documents).toBe(0);
    });

    it('shares the next commit among calls that come during one', async () => {
      const committing = [commit(store, collection)];
      await accept(store, collection, [{ id: 'a' }]);
      committing.push(commit(store, collection), commit(store, collection));
      expect((await Promise.all(committing)).map((result) => result.commit).at(-1)).toBe(1);
      expect(await visible(store, collection)).toEqual(['a']);
    });

    it('fails an operation that the engine refuses, and applies all others', async () => {
      await accept(store, collection, [
        ...Array.from({ length: 9 }, (_, i) => ({ id: `good${i}` })),
        // More dimensions than the column has, which only the engine notices.
        { id: 'poison', import: testOutputs({ shape: [1, 2, 3] }) },
        { id: 'broken', import: 'not JSON' },
        { id: 'good9' },
      ]);
      const result = await commit(store, collection);
      expect(result).toEqual({ commit: 1, applied: 10, failed: 2 });
      expect(await visible(store, collection)).toHaveLength(10);
      const failed = await listOperations(store, collection, { state: 'failed', limit: 10 });
      expect(failed.operations.map(({ id, error }) => [id, error?.code])).toEqual([
        ['poison', 'bad-request'],
        ['broken', 'bad-request'],
      ]);
      expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 2 });
      expect(await commit(store, collection)).toMatchObject({ commit: 1, failed: 0 });
    });

    it('goes on after a commit that was cut off, also in another process', async () => {
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

    it('goes on after a commit that was broken off between two pieces', async () => {
      const many = Array.from({ length: 600 }, (_, i) => ({ id: `many${i}` }));
      const staging = await stageChanges(store, collection);
      await staging.add(await changesOf(store, collection, many));
      await staging.accept();
      const stop = new AbortController();
      // When some of it is applied.
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

    it('removes what no search can see any more, with all that hangs on it', async () => {
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
      for (const table of ['documents', 'outputs', 'descriptors_shape']) {
        expect([table, await store.engine.query(`select doc from ${S}.${table}`)]).toEqual([table, [{ doc: 3n }]]);
      }
      expect(await store.engine.query(`select * from ${S}.barriers`)).toEqual([]);
      expect(await store.engine.query(`select document from ${S}.operations where document is not null`)).toEqual([]);
    });
  });

  describe('analysis', () => {
    it('goes from queued to visible', async () => {
      const { first } = await accept(store, collection, [{ id: 'a', image: url('a') }]);
      const stateOf = async () => (await findOperation(store, collection, first)).state;
      expect(await stateOf()).toBe('queued');
      expect(await commit(store, collection)).toMatchObject({ commit: 0 });
      const [task] = await claimForAnalysis(store, 10);
      expect(task).toMatchObject({ id: 'a', image: url('a'), attempt: 1, modules: undefined });
      expect(await claimForAnalysis(store, 10)).toEqual([]);
      expect(await stateOf()).toBe('analyzing');
      if (task === undefined) throw new Error('nothing claimed');
      expect(await saveAnalysis(store, task, testOutputs({ shape: [0, 1, 0, 0] }), Buffer.from('webp'))).toBe(true);
      expect(await saveAnalysis(store, task, 'late')).toBe(false);
      expect(await stateOf()).toBe('ready');
      await commit(store, collection);
      expect(await stateOf()).toBe('visible');
      const S = collection.sqlSchema;
      expect(await store.engine.query(`select cell from ${S}.descriptors_shape`)).toEqual([{ cell: 1 }]);
      expect(await store.engine.query(`select bytes from ${S}.thumbnails join ${S}.documents using (doc)`)).toEqual([
        { bytes: Buffer.from('webp') },
      ]);
    });

    it('drops the result of an attempt that was given up, and keeps that of the next', async () => {
      await accept(store, collection, [{ id: 'a', image: url('a') }]);
      const [slow] = await claimForAnalysis(store, 1);
      expect(await requeueStuck(store, 60_000)).toBe(0);
      expect(await requeueStuck(store, 0)).toBe(1);
      const [second] = await claimForAnalysis(store, 1);
      if (slow === undefined || second === undefined) throw new Error('nothing claimed');
      expect(second.attempt).toBe(2);
      expect(await saveAnalysis(store, slow, 'stale')).toBe(false);
      expect(await failAnalysis(store, slow, { code: 'internal', msg: 'stale' })).toBeUndefined();
      expect(await saveAnalysis(store, second, testOutputs({ shape: [1, 0, 0, 0] }))).toBe(true);
    });

    it('reads a few rows to hand out a few images of very many', async () => {
      await accept(store, collection, [{ id: 'a', image: url('a') }]);
      await store.engine.query(
        `insert into ${collection.sqlSchema}.operations (request, position, kind, id, doc, document, state, host)
         select request, g, kind, id || g, doc + g, document, state, host
           from ${collection.sqlSchema}.operations, generate_series(1, 10000) g`,
      );
      // Statistics of a single host make the planner expect one row, which it might as well sort.
      await store.engine.query(`analyze ${collection.sqlSchema}.operations`);
      let read = 0;
      const engine = Object.assign(Object.create(store.engine), {
        transaction: ((run, options) =>
          store.engine.transaction(async (tx) => {
            const result = await run(tx);
            const [row] = await tx.query<{ read: bigint }>(
              `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
                where schemaname = $1 and relname = 'operations'`,
              [collection.sqlSchema],
            );
            read = Number(row?.read);
            return result;
          }, options)) satisfies Store['engine']['transaction'],
      });
      expect(await claimForAnalysis({ ...store, engine }, 10, { perHost: 64 })).toHaveLength(10);
      expect(read).toBeGreaterThan(0);
      expect(read).toBeLessThan(100);
    });

    it('keeps the earlier version of a document whose new image fails', async () => {
      await accept(store, collection, [{ id: 'a', n: 1 }]);
      await commit(store, collection);
      const range = await accept(store, collection, [
        { id: 'a', n: 2, image: url('gone') },
        { id: 'b', n: 2, image: url('b') },
      ]);
      const waiting = waitForOperations(store, collection, range);
      const tasks = await claimForAnalysis(store, 10);
      for (const task of tasks) {
        if (task.id === 'a')
          await failAnalysis(store, task, { code: 'image-unreachable', msg: 'The server answered 404.' });
        else await saveAnalysis(store, task, testOutputs({}));
      }
      expect(await waiting).toMatchObject([
        {
          id: 'a',
          position: 0,
          state: 'failed',
          error: { code: 'image-unreachable', msg: 'The server answered 404.' },
        },
      ]);
      await commit(store, collection);
      expect(await visible(store, collection, 'n')).toEqual([
        ['a', 1n],
        ['b', 2n],
      ]);
    });

    it('tries again later when told so', async () => {
      await accept(store, collection, [{ id: 'a', image: url('a') }]);
      const [task] = await claimForAnalysis(store, 1);
      if (task === undefined) throw new Error('nothing claimed');
      await failAnalysis(store, task, { code: 'image-unreachable', msg: 'busy' }, [3_600_000]);
      expect(await claimForAnalysis(store, 1)).toEqual([]);
      const due = () =>
        store.engine.query(`update ${collection.sqlSchema}.operations set available_at = now() - interval '1 second'`);
      await due();
      const [again] = await claimForAnalysis(store, 1);
      if (again === undefined) throw new Error('nothing claimed');
      expect(again.attempt).toBe(2);
      // Lost ones are not failures: the image still has its second retry.
      expect(await requeueAnalyses(store, [again], { begun: true })).toBe(1);
      const [third] = await claimForAnalysis(store, 1);
      if (third === undefined) throw new Error('nothing claimed');
      expect(await failAnalysis(store, third, { code: 'image-unreachable', msg: 'busy' }, [1, 1])).toBe('queued');
      await due();
      const [fourth] = await claimForAnalysis(store, 1);
      if (fourth === undefined) throw new Error('nothing claimed');
      expect(await failAnalysis(store, fourth, { code: 'image-unreachable', msg: 'busy' }, [1, 1])).toBe('failed');
    });

    const failAll = async () => {
      for (const task of await claimForAnalysis(store, 10)) {
        await failAnalysis(store, task, { code: 'image-unreachable', msg: 'The server answered 404.' });
      }
    };
    const analyzeAll = async () => {
      for (const task of await claimForAnalysis(store, 10)) await saveAnalysis(store, task, testOutputs({}));
    };

    it('sets failed ones on their way again, all or one or those of a reason', async () => {
      await accept(store, collection, [
        { id: 'a', image: url('a') },
        { id: 'b', image: url('b') },
        { id: 'broken', import: 'not JSON' },
      ]);
      await failAll();
      await commit(store, collection);
      expect(await collectionStatus(store, collection)).toMatchObject({
        failed: 3,
        failures: { 'image-unreachable': 2, 'bad-request': 1 },
      });
      expect(await retryFailed(store, collection, { seq: 1 })).toEqual({ retried: 1, superseded: 0 });
      expect(await retryFailed(store, collection, { seq: 1 })).toEqual({ retried: 0, superseded: 0 });
      expect(await retryFailed(store, collection, { code: 'image-unreachable' })).toEqual({
        retried: 1,
        superseded: 0,
      });
      await analyzeAll();
      expect(await commit(store, collection)).toMatchObject({ applied: 2, failed: 0 });
      expect(await visible(store, collection)).toEqual(['a', 'b']);
      // What cannot be applied fails again.
      expect(await retryFailed(store, collection)).toEqual({ retried: 1, superseded: 0 });
      expect(await commit(store, collection)).toMatchObject({ failed: 1 });
      expect(await collectionStatus(store, collection)).toMatchObject({
        pending: 0,
        failed: 1,
        failures: { 'bad-request': 1 },
      });
    });

    it.each([
      ['replaced', [{ id: 'a', price: 2 }], ['a']],
      ['deleted', [remove('a')], []],
      ['deleted by a query', [removeMatching('price:1')], []],
      ['replaced and deleted', [{ id: 'a', price: 2 }, removeMatching('price:2')], []],
    ])('brings nothing back by a retry that was %s later', async (_, later, seen) => {
      await accept(store, collection, [{ id: 'a', price: 1, image: url('a') }]);
      await failAll();
      for (const change of later) await accept(store, collection, [change]);
      await commit(store, collection);
      await maintain(store);
      await retryFailed(store, collection);
      await analyzeAll();
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual(seen);
      expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 0 });
    });

    it('takes an analysis back that was never begun as if it had not been handed out', async () => {
      await accept(store, collection, [
        { id: 'a', image: url('a') },
        { id: 'b', image: url('b') },
      ]);
      const [a, b] = await claimForAnalysis(store, 2);
      if (a === undefined || b === undefined) throw new Error('too few claimed');
      await saveAnalysis(store, b, testOutputs({}));
      expect(await listAnalyzing(store, 0)).toMatchObject([{ position: 0, attempt: 1 }]);
      expect(await listAnalyzing(store, 60_000)).toEqual([]);
      expect(await requeueAnalyses(store, [a, b], { begun: false })).toBe(1);
      expect(await claimForAnalysis(store, 2)).toMatchObject([{ id: 'a', attempt: 1 }]);
    });

    it('takes the first images of each request before the rest of the requests before it', async () => {
      const many = (name: string) =>
        Array.from({ length: 5 }, (_, i) => ({ id: `${name}${i}`, image: url(`${name}${i}`) }));
      await accept(store, collection, many('a'));
      await accept(store, collection, many('b'));
      const claimed = await claimForAnalysis(store, 100, { first: 2 });
      expect(claimed.map(({ id }) => id).sort()).toEqual(['a0', 'a1', 'b0', 'b1']);
      expect((await claimForAnalysis(store, 2)).map(({ id }) => id).sort()).toEqual(['a2', 'a3']);
    });

    it('takes no more images of one host at a time than it was told, and those of others behind them', async () => {
      const at = (host: string, i: number) => ({ id: `${host}${i}`, image: `http://${host}/${i}.jpg` });
      await accept(store, collection, [...[0, 1, 2, 3, 4].map((i) => at('slow', i)), at('quick', 0), at('quick', 1)]);
      const claim = async (limit: number) =>
        (await claimForAnalysis(store, limit, { perHost: 2 })).sort((a, b) => a.position - b.position);
      // The first three are of one host: the third is left for later.
      const first = await claim(3);
      expect(first.map(({ id }) => id)).toEqual(['slow0', 'slow1']);
      expect((await claim(3)).map(({ id }) => id)).toEqual(['quick0', 'quick1']);
      expect(await claim(3)).toEqual([]);
      if (first[0] === undefined) throw new Error('nothing claimed');
      await saveAnalysis(store, first[0], testOutputs({}));
      expect((await claim(3)).map(({ id }) => id)).toEqual(['slow2']);
    });

    it('queues again, at the next start, what a process was analyzing when it died', async () => {
      await accept(store, collection, [{ id: 'a', image: url('a') }]);
      await claimForAnalysis(store, 1);
      const unaccepted = await stageChanges(store, collection);
      await unaccepted.add(await changesOf(store, collection, [{ id: 'lost' }]));
      await reopen();
      expect(await claimForAnalysis(store, 10)).toMatchObject([{ id: 'a', attempt: 2 }]);
      expect(await store.engine.query(`select id from ${collection.sqlSchema}.operations`)).toEqual([{ id: 'a' }]);
    });

    it('ends a wait when its signal aborts', async () => {
      const range = await accept(store, collection, [{ id: 'a', image: url('a') }]);
      const waiting = waitForOperations(store, collection, range, { signal: AbortSignal.timeout(50) });
      await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    });

    it('waits until a change is visible', async () => {
      const range = await accept(store, collection, [{ id: 'a' }, { id: 'a' }]);
      expect(await waitForOperations(store, collection, range)).toEqual([]);
      const waiting = waitForOperations(store, collection, range, { until: 'visible' });
      await commit(store, collection);
      expect(await waiting).toEqual([]);
      expect(await visible(store, collection)).toEqual(['a']);
    });
  });

  describe('documents at the limits of what is accepted', () => {
    const commits = async (document: object) => {
      await accept(store, collection, [document]);
      expect(await commit(store, collection)).toEqual({ commit: 1, applied: 1, failed: 0 });
      expect(await visible(store, collection)).toHaveLength(1);
    };
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => [`n${i}`, i + 0.5]);
    const texts = (count: number) => Array.from({ length: count }, (_, i) => [`t${i}`, `text number ${i} `.repeat(3)]);
    /** Pairs of characters that hardly repeat: the most words that so many bytes can have. */
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

    it('commits as many different words as are accepted', async () => {
      let length = 100_000;
      const accepted = async () =>
        changesOf(store, collection, [{ id: 'a', long: chinese(length) }]).then(
          () => true,
          () => false,
        );
      while (!(await accepted())) length = Math.floor(length * 0.95);
      expect(length).toBeGreaterThan(15_000);
      await commits({ id: 'a', long: chinese(length), import: testOutputs({ names: ['red'] }) });
    });
  });

  describe('changes that overtake each other', () => {
    it('drops a document that arrives after a later one of its id', async () => {
      await accept(store, collection, [{ id: 'a', n: 1, image: url('slow') }]);
      await accept(store, collection, [{ id: 'a', n: 2 }]);
      await commit(store, collection);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection, 'n')).toEqual([['a', 2n]]);
      expect((await findOperation(store, collection, 1)).state).toBe('superseded');
      expect(await store.engine.query(`select * from ${collection.sqlSchema}.outputs`)).toEqual([]);
    });

    it('drops a document that arrives after a later delete of an id that nobody ever saw', async () => {
      await accept(store, collection, [{ id: 'a', image: url('slow') }]);
      await accept(store, collection, [remove('a')]);
      await commit(store, collection);
      await maintain(store);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
    });

    it('drops a document that arrives after a later delete of its id, even when the delete is long done', async () => {
      await accept(store, collection, [{ id: 'a', n: 1, image: url('slow') }]);
      await accept(store, collection, [{ id: 'a', n: 2 }]);
      await commit(store, collection);
      await accept(store, collection, [remove('a')]);
      await commit(store, collection);
      await maintain(store);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
    });

    it('applies a delete by query to documents whose analysis ends later, by what the analysis found', async () => {
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

    it('does not bring back an older version of what a delete by query took', async () => {
      await accept(store, collection, [{ id: 'a', n: 1, image: url('slow') }]);
      await accept(store, collection, [{ id: 'a', n: 2 }, removeMatching('n:2')]);
      await commit(store, collection);
      await maintain(store);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
      expect((await collectionStatus(store, collection)).documents).toBe(0);
    });

    it('does not bring back an older version of a visible one that a delete by query took', async () => {
      await accept(store, collection, [{ id: 'a', n: 1, image: url('slow') }]);
      await accept(store, collection, [{ id: 'a', n: 2 }]);
      await commit(store, collection);
      await accept(store, collection, [removeMatching('n:2')]);
      await commit(store, collection);
      await maintain(store);
      await analyze('a');
      await commit(store, collection);
      expect(await visible(store, collection)).toEqual([]);
    });
  });

  describe('the list of operations', () => {
    it('pages in accepted order, by state', async () => {
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
