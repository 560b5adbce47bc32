import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { afterEach, describe, expect, it } from '@jest/globals';
import { reindex, workOf as reindexWork, storeWithModels, targetOf } from '../../../test/reindexing.ts';
import {
  accept,
  openTestStore,
  parseTestOutputs,
  TEST_MODULES,
  testLocation,
  testOutputs,
  visible,
} from '../../../test/support.ts';
import { waitForOperations } from '../../changes/accept/operations.ts';
import { type AnalysisTask, claimForAnalysis, saveAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { collectionStates, createCollection, findCollection } from '../../database/collections/collections.ts';
import type { ModelSet } from '../../database/model-sets.ts';
import { dropCollection } from '../drop-collection.ts';
import { type ReindexWork, runReindex } from './run-reindex.ts';
import { orphanedReindexes, pauseReindex, reindexState, resumeReindex } from './state.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function testStore() {
  const { close, ...opened } = await storeWithModels();
  open.push(close);
  return opened;
}

const workOf = (store: Store, more?: Partial<ReindexWork>) => reindexWork(store, undefined, more);

const first = testOutputs({ shape: [1, 0, 0, 0] });
const second = testOutputs({ shape: [1, 0, 0, 0], names: ['v2'] });
const ids = async (store: Store, name: string) => visible(store, await findCollection(store, name));

// On one database: their statements are the same. reindex.test.ts reindexes on both.
describe('processes that reindex a collection', () => {
  it('write nothing after another one has continued, neither before nor after the swap', async () => {
    const { store, takes } = await testStore();
    const books = await createCollection(store, 'books');
    await accept(store, books, [
      { id: 'x', value: 1, import: first },
      { id: 'y', value: 1, import: first },
    ]);
    await commit(store, books);
    takes.first = false;
    let enter = () => {};
    let leave = () => {};
    const entered = new Promise<void>((resolve) => {
      enter = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const seen = { outputs: second, fromThumbnail: false };
    const late = workOf(store, {
      reanalyze: async () => {
        enter();
        await gate;
        return seen;
      },
    });
    const running = reindex(store, books, late);
    await entered;
    expect(await pauseReindex(store, books)).toBe(true);
    await accept(store, books, [
      { id: 'x', value: 9, import: second },
      { kind: 'delete', id: 'y' },
    ]);
    await commit(store, books);
    const next = workOf(store, { reanalyze: async () => seen });
    const begun = await resumeReindex(store, books, next.holder);
    if (begun === undefined) throw new Error('it cannot go on');
    await runReindex(store, books, begun.target, next);
    const after = await ids(store, 'books');
    leave();
    await running;
    await commit(store, await findCollection(store, 'books'));
    expect([after, await ids(store, 'books')]).toEqual([['x'], ['x']]);
    expect((await reindexState(store, 'books'))?.state).toBe('done');
  });

  it('fail if a copy is refused in its commit, with or without thumbnails', async () => {
    const { store } = await testStore();
    const books = await createCollection(store, 'books');
    await accept(store, books, [
      { id: 'x', value: 1, import: first },
      { id: 'y', value: 2 },
    ]);
    await commit(store, books);
    const work = workOf(store, { reanalyze: async () => undefined });
    const inCommit: ReindexWork = {
      ...work,
      commit: async (name) => {
        const { sqlSchema } = await findCollection(store, name);
        await store.engine.query(`update ${sqlSchema}.operations set analysis = 'damaged' where analysis is not null`);
        await work.commit(name);
      },
    };
    await expect(reindex(store, books, inCommit)).rejects.toThrow('1 document cannot be copied');
    expect((await reindexState(store, 'books'))?.missing).toMatchObject([{ id: 'x' }]);
    expect(await ids(store, 'books')).toEqual(['x', 'y']);
  });

  it('leave nothing to a new collection with the same name', async () => {
    const { store } = await testStore();
    const shop = await createCollection(store, 'shop');
    await accept(store, shop, [{ id: 'old', value: 1 }]);
    await commit(store, shop);
    const target = await targetOf(store, shop);
    await pauseReindex(store, shop);
    await dropCollection(store, shop);
    await expect(findCollection(store, target.name)).rejects.toThrow('There is no collection');
    const again = await createCollection(store, 'shop');
    expect(await reindexState(store, 'shop')).toBeUndefined();
    expect(await resumeReindex(store, again, randomUUID())).toBeUndefined();
  });

  it('repeat analyses of the old models after the last commit', async () => {
    const { location, remove } = await testLocation('postgres');
    const two: ModelSet = {
      modules: TEST_MODULES,
      calibrations: new Map(),
      models: new Map([['shape', 'two:1']]),
      parseOutputs: (json) => {
        if (!json.includes('"v2"')) throw new AkinError('bad-request', 'These are of other models.');
        return parseTestOutputs(json);
      },
    };
    const store = await openTestStore(location, 0, {
      models: new Map([['shape', 'one:1']]),
      findModelSet: async () => two,
    });
    open.push(remove, async () => store[Symbol.asyncDispose]());
    const books = await createCollection(store, 'books');
    await accept(store, books, [{ id: 'x', value: 1, import: first }]);
    await commit(store, books);
    const late = await accept(store, books, [{ id: 'late', value: 2, image: 'https://example.org/late.jpg' }]);
    const [task] = await claimForAnalysis(store, 1);
    let isSaved = false;
    const work = workOf(store, {
      reanalyze: async () => ({ outputs: second, fromThumbnail: false }),
      commit: async (name) => {
        await commit(store, await findCollection(store, name));
        if (name !== 'books' || isSaved) return;
        isSaved = true;
        await saveAnalysis(store, task as AnalysisTask, first);
      },
    });
    const rebuilt = await reindex(store, books, work, new Map(), { model: 'two' });
    expect(rebuilt.id).not.toBe(books.id);
    const [again] = await claimForAnalysis(store, 1);
    expect(again).toMatchObject({ id: 'late', image: 'https://example.org/late.jpg' });
    await saveAnalysis(store, again as AnalysisTask, second);
    await commit(store, rebuilt);
    await waitForOperations(store, rebuilt, { first: late.first, last: late.last }, { until: 'visible' });
    expect(await ids(store, 'books')).toEqual(['late', 'x']);
  });

  it('report a reindex that could not start, and block nothing', async () => {
    const { store } = await testStore();
    const shop = await createCollection(store, 'shop');
    const today = await reindex(store, shop);
    await createCollection(store, 'shop.reindex');
    await expect(targetOf(store, today)).rejects.toThrow('exists already');
    expect((await reindexState(store, 'shop'))?.state).toBe('failed');
    expect(await pauseReindex(store, today)).toBe(false);
    expect((await collectionStates(store)).filter(({ held }) => held)).toEqual([]);
    expect(await orphanedReindexes(store)).toEqual([]);
  });
});

describe('a process without the models of a reindex', () => {
  it('does not continue it', async () => {
    const { location, remove } = await testLocation('postgres');
    const make = (model: string) => openTestStore(location, 0, { models: new Map([['shape', model]]) });
    const store = await make('new:1');
    const books = await createCollection(store, 'books');
    await accept(store, books, [{ id: 'x', value: 1, import: first }]);
    await commit(store, books);
    const target = await targetOf(store, books);
    await accept(store, target, [{ id: 'x', value: 1, import: first }]);
    await commit(store, target);
    await pauseReindex(store, books);
    await store[Symbol.asyncDispose]();
    const other = await make('other:1');
    open.push(remove, async () => other[Symbol.asyncDispose]());
    await expect(resumeReindex(other, books, randomUUID())).rejects.toThrow('model new:1');
    expect((await reindexState(other, 'books'))?.state).toBe('paused');
  });
});
