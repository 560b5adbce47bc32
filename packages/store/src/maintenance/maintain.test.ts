import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../test/fresh-collections.ts';
import { accept, changesOf, testOutputs, visible } from '../../test/support.ts';
import { Staging } from '../changes/accept/staging.ts';
import { claimForAnalysis, failAnalysis, saveAnalysis } from '../changes/analyze/analysis.ts';
import { retryFailed } from '../changes/analyze/retry.ts';
import { commit } from '../changes/commit/commit.ts';
import { listTombstones } from '../changes/commit/tombstones.ts';
import type { Store } from '../changes/context.ts';
import { LIVE } from '../database/collections/collection-tables.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import { maintainCollection } from './maintain.ts';

describe('housekeeping', () => {
  let store: Store;
  let collection: Collection;
  freshCollections('postgres', (fresh) => {
    ({ store, collection } = fresh);
  });

  it('keeps a delete that an operation must still see which is retried meanwhile', async () => {
    await accept(store, collection, [{ id: 'a', n: 1, image: 'https://example.org/a.jpg' }]);
    const [first] = await claimForAnalysis(store, 1);
    if (first === undefined) throw new Error('not claimed');
    await failAnalysis(store, first, { code: 'image-unreachable', msg: 'Nobody is there.' });
    await accept(store, collection, [{ kind: 'delete-by-query', query: 'n:1' }]);
    await commit(store, collection);
    const query: typeof store.engine.query = async (sql, ...rest) => {
      if (sql.includes('.barriers where')) expect((await retryFailed(store, collection)).retried).toBe(1);
      return store.engine.query(sql, ...rest) as never;
    };
    await maintainCollection({ ...store, engine: { ...store.engine, query } }, collection);
    const [again] = await claimForAnalysis(store, 1);
    if (again === undefined) throw new Error('not claimed');
    await saveAnalysis(store, again, testOutputs({ shape: [1, 0, 0, 0] }));
    await commit(store, collection);
    expect(await visible(store, collection)).toEqual([]);
  });

  it('removes requests that were begun six hours ago and never accepted', async () => {
    const { sqlSchema: S } = collection;
    const begin = async (id: string) => {
      const staging = new Staging(store, collection);
      await staging.add(await changesOf(store, collection, [{ id }]));
      await staging.flush();
    };
    await begin('old');
    await store.engine.query(`update ${S}.requests set created_at = now() - interval '361 minutes'`);
    await begin('new');
    await maintainCollection(store, collection);
    expect(await store.engine.query(`select id from ${S}.operations`)).toEqual([{ id: 'new' }]);
  });

  it('deletes what has been in a trash for 30 days, also if nobody deletes anything', async () => {
    const trash = await createCollection(store, `${collection.name}.trash`);
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const file = { source: 'photos', modified: daysAgo(90), bytes: 1 };
    const documents = [
      { id: 'new', trashed_at: daysAgo(29) },
      { id: 'old', trashed_at: daysAgo(31), ...file },
      { id: 'other' },
    ];
    for (const one of [collection, trash]) {
      await accept(store, one, documents);
      await commit(store, one);
      await maintainCollection(store, one);
      await commit(store, one);
    }
    expect(await visible(store, collection)).toEqual(['new', 'old', 'other']);
    expect(await visible(store, trash)).toEqual(['new', 'other']);
    // The delete that brought it into the trash left one.
    expect((await listTombstones(store, trash, { limit: 10 })).tombstones).toEqual([]);
  });

  it('leaves vacuums and statistics for later while a commit runs', async () => {
    const asked: boolean[] = [];
    const running = { running: new Promise<never>(() => {}) };
    for (const commits of [new Map([[collection.id, running]]), new Map()]) {
      let hasAsked = false;
      const query: typeof store.engine.query = async (sql, ...rest) => {
        hasAsked ||= sql.includes('pg_stat_user_tables');
        return store.engine.query(sql, ...rest) as never;
      };
      await maintainCollection({ ...store, commits, engine: { ...store.engine, query } }, collection);
      asked.push(hasAsked);
    }
    expect(asked).toEqual([false, true]);
  });

  it('ends between two pieces when its signal aborts', async () => {
    const documents = Array.from({ length: 120 }, (_, n) => ({ id: `d${n}`, n }));
    for (let round = 0; round < 2; round++) {
      await accept(store, collection, documents);
      await commit(store, collection);
    }
    const ending = new AbortController();
    const throttle = Object.assign(Object.create(store.throttle), {
      pauseAfter: async () => ending.abort(new Error('it must end')),
    });
    const housekeeping = maintainCollection({ ...store, graceMilliseconds: 0, throttle }, collection, ending.signal);
    await expect(housekeeping).rejects.toThrow('it must end');
    const [left] = await store.engine.query<{ count: number }>(
      `select count(*)::int as count from ${collection.sqlSchema}.documents where valid_to < ${LIVE}`,
    );
    expect(left?.count).toBeGreaterThan(0);
    expect(left?.count).toBeLessThan(120);
  });
});
