import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { maintain } from '../../../test/maintain.ts';
import { accept, changesOf, ENGINES, remove, removeMatching, testOutputs, visible } from '../../../test/support.ts';
import { collectionStatus, createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { findOperation, lastOperation, waitForOperations } from '../accept/operations.ts';
import { Staging } from '../accept/staging.ts';
import { commit } from '../commit/commit.ts';
import type { Store } from '../context.ts';
import {
  ClaimTurns,
  claimForAnalysis,
  failAnalysis,
  listAnalyzing,
  requeueAll,
  requeueAnalyses,
  saveAnalysis,
} from './analysis.ts';
import { retryFailed } from './retry.ts';

const url = (name: string) => `http://images.example/${name}.jpg`;

describe.each(ENGINES)('the analysis of changes on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const { reopen } = freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

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
    expect(await store.engine.query(`select vector::text from ${S}.descriptors_shape`)).toEqual([
      { vector: '[0,1,0,0]' },
    ]);
    expect(await store.engine.query(`select t.bytes from ${S}.thumbnails t join ${S}.documents using (doc)`)).toEqual([
      { bytes: Buffer.from('webp') },
    ]);
  });

  it('drops the result of an abandoned attempt, and stores that of the next', async () => {
    await accept(store, collection, [{ id: 'a', image: url('a') }]);
    const [slow] = await claimForAnalysis(store, 1);
    await requeueAll(store, collection);
    const [second] = await claimForAnalysis(store, 1);
    if (slow === undefined || second === undefined) throw new Error('nothing claimed');
    expect(second.attempt).toBe(2);
    expect(await saveAnalysis(store, slow, 'stale')).toBe(false);
    expect(await failAnalysis(store, slow, { code: 'internal', msg: 'stale' })).toBeUndefined();
    expect(await saveAnalysis(store, second, testOutputs({ shape: [1, 0, 0, 0] }))).toBe(true);
  });

  itOnPostgres('claims equally many images of each collection, whatever waits in one of them', async () => {
    const [other, empty] = [await createCollection(store, 'other'), await createCollection(store, 'empty')];
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ id: `${name}${i}`, image: url(`${name}${i}`) }));
    await accept(store, collection, many('a', 40));
    await accept(store, other, many('b', 8));
    await accept(store, empty, [{ id: 'c' }]);
    const turns = new ClaimTurns();
    const claim = async (limit: number) => {
      const tasks = await claimForAnalysis(store, limit, { turns });
      const of = ({ id }: Collection) => tasks.filter((task) => task.collection.id === id).length;
      return [of(collection), of(other)];
    };
    expect(await claim(10)).toEqual([5, 5]);
    // The turns continue.
    const [one, another] = [await claim(1), await claim(1)];
    expect([one, another].sort()).toEqual([
      [0, 1],
      [1, 0],
    ]);
    // If one has too few, the others give more.
    expect(await claim(20)).toEqual([18, 2]);
    expect(await claim(100)).toEqual([16, 0]);
    // Nothing is left in any of them, until there is a new event in one.
    expect(await claim(10)).toEqual([0, 0]);
    await store.engine.query(
      `update ${other.sqlSchema}.operations set state = 'queued', available_at = null where position = 0`,
    );
    turns.onChange(other.id);
    expect(await claim(10)).toEqual([0, 1]);
    for (const one of [other, empty]) await dropCollection(store, one);
  });

  it('reads a few rows to claim a few images of very many', async () => {
    await accept(store, collection, [{ id: 'a', image: url('a') }]);
    await store.engine.query(
      `insert into ${collection.sqlSchema}.operations (request, position, kind, id, doc, document, state, host)
       select request, g, kind, id || g, doc + g, document, state, host
         from ${collection.sqlSchema}.operations, generate_series(1, 10000) g`,
    );
    // Statistics of a single host make the planner expect one row, which it could as well sort.
    await store.engine.query(`analyze ${collection.sqlSchema}.operations`);
    let read = 0;
    const engine = Object.assign(Object.create(store.engine), {
      transaction: ((run, options) =>
        store.engine.transaction(async (tx, first) => {
          const result = await run(tx, first);
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

  itOnPostgres('keeps the earlier version of a document whose new image fails', async () => {
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

  itOnPostgres('retries after the given delay', async () => {
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
    // Lost attempts are not failures: the image still has its second retry.
    expect(await requeueAnalyses(store, [again], { begun: true })).toBe(1);
    const [third] = await claimForAnalysis(store, 1);
    if (third === undefined) throw new Error('nothing claimed');
    const retried = await failAnalysis(store, third, { code: 'image-unreachable', msg: 'busy' }, [1, 1]);
    expect(retried?.state).toBe('queued');
    await due();
    const [fourth] = await claimForAnalysis(store, 1);
    if (fourth === undefined) throw new Error('nothing claimed');
    const failed = await failAnalysis(store, fourth, { code: 'image-unreachable', msg: 'busy' }, [1, 1]);
    expect(failed).toEqual({ state: 'failed', seq: BigInt(await lastOperation(store, collection)) });
  });

  const failAll = async () => {
    for (const task of await claimForAnalysis(store, 10)) {
      await failAnalysis(store, task, { code: 'image-unreachable', msg: 'The server answered 404.' });
    }
  };
  const analyzeAll = async () => {
    for (const task of await claimForAnalysis(store, 10)) await saveAnalysis(store, task, testOutputs({}));
  };

  itOnPostgres('retries failed ones: all, one, or those with a given reason', async () => {
    await accept(store, collection, [
      { id: 'a', image: url('a') },
      { id: 'b', image: url('b') },
      { id: 'broken', import: testOutputs({ names: ['red'] }) },
    ]);
    await store.engine.query(`update ${collection.sqlSchema}.operations set analysis = 'damaged' where id = 'broken'`);
    await failAll();
    await commit(store, collection);
    expect(await collectionStatus(store, collection)).toMatchObject({
      failed: 3,
      failures: { 'image-unreachable': 2, internal: 1 },
    });
    expect(await retryFailed(store, collection, { seq: 1 })).toEqual({ retried: 1, superseded: 0, conflicting: 0 });
    expect(await retryFailed(store, collection, { seq: 1 })).toEqual({ retried: 0, superseded: 0, conflicting: 0 });
    expect(await retryFailed(store, collection, { code: 'image-unreachable' })).toEqual({
      retried: 1,
      superseded: 0,
      conflicting: 0,
    });
    await analyzeAll();
    expect(await commit(store, collection)).toMatchObject({ applied: 2, failed: 0 });
    expect(await visible(store, collection)).toEqual(['a', 'b']);
    // What cannot be applied fails again.
    expect(await retryFailed(store, collection)).toEqual({ retried: 1, superseded: 0, conflicting: 0 });
    expect(await commit(store, collection)).toMatchObject({ failed: 1 });
    expect(await collectionStatus(store, collection)).toMatchObject({
      pending: 0,
      failed: 1,
      failures: { internal: 1 },
    });
  });

  itOnPostgres.each([
    ['replaced', [{ id: 'a', price: 2 }], ['a']],
    ['deleted', [remove('a')], []],
    ['deleted by a query', [removeMatching('price:1')], []],
    ['replaced and deleted', [{ id: 'a', price: 2 }, removeMatching('price:2')], []],
  ])('restores nothing by a retry that was %s later', async (_, later, seen) => {
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

  itOnPostgres('returns an analysis that was never started as if it had not been claimed', async () => {
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

  itOnPostgres('claims the first images of each request before the rest of earlier requests', async () => {
    const many = (name: string) =>
      Array.from({ length: 5 }, (_, i) => ({ id: `${name}${i}`, image: url(`${name}${i}`) }));
    await accept(store, collection, many('a'));
    await accept(store, collection, many('b'));
    const claimed = await claimForAnalysis(store, 100, { first: 2 });
    expect(claimed.map(({ id }) => id).sort()).toEqual(['a0', 'a1', 'b0', 'b1']);
    expect((await claimForAnalysis(store, 2)).map(({ id }) => id).sort()).toEqual(['a2', 'a3']);
  });

  itOnPostgres('claims at most the given number of images of one host, then those of others behind them', async () => {
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

  it('queues analyses of a dead process again at the next start', async () => {
    await accept(store, collection, [{ id: 'a', image: url('a') }]);
    await claimForAnalysis(store, 1);
    const unaccepted = new Staging(store, collection);
    await unaccepted.add(await changesOf(store, collection, [{ id: 'lost' }]));
    await unaccepted.flush();
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
