import { parseQuery } from '@akin/domain';
import { describe, expect, it, jest } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, openTestStore, testLocation } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';
import { TimeLimit } from './time-limit.ts';

describe.each(ENGINES)('the time allowed on %s', (kind) => {
  let store: Store;
  let collection: Collection;

  sharedStore(kind, async (opened) => {
    store = opened;
    collection = await createCollection(store, 'slow');
    await accept(store, collection, [
      { id: '1', n: 1 },
      { id: '2', n: 2 },
    ]);
    await commit(store, collection);
  });

  const find = (request: Partial<SearchRequest>) =>
    search(store, collection, { query: parseQuery('n:*'), rows: 10, ...request });

  it('changes nothing when it is enough', async () => {
    expect(await find({ timeAllowed: 60_000 })).toMatchObject({ numFound: 2, numFoundExact: true, partial: false });
    expect(await find({})).toMatchObject({ partial: false });
  });

  it('leaves out what does not come in time, and says so', async () => {
    const none = await find({ timeAllowed: 0, facets: [{ kind: 'query', query: parseQuery('n:1') }] });
    expect(none).toMatchObject({ numFound: 0, numFoundExact: false, partial: true, hits: [], facets: [] });
    // The connection is as good as before.
    expect(await find({})).toMatchObject({ numFound: 2 });
  });

  it('never cuts a page that a cursor mark leads to', async () => {
    expect(await find({ timeAllowed: 0, cursorMark: '*' })).toMatchObject({ numFound: 2, partial: false });
  });

  it('passes on other errors', async () => {
    await expect(find({ timeAllowed: 60_000, query: parseQuery('m:1') })).rejects.toMatchObject({
      code: 'bad-request',
    });
  });
});

describe('a statement that takes too long', () => {
  it('is cancelled on PostgreSQL, and what came before it is kept', async () => {
    const { location, remove } = await testLocation('postgres');
    const store = await openTestStore(location);
    // The clock stands still: the first statement has an hour, the second one what is left of it.
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const kept = await store.engine
      .transaction(
        async (tx) => {
          const limit = new TimeLimit(tx, now + 3_600_000);
          const first = await limit.within(() => tx.query('select 1 as n'));
          now += 3_599_990;
          const second = await limit.within(() => tx.query('select pg_sleep(600)'));
          const third = await limit.within(() => tx.query('select 3 as n'));
          return { first, second, third, over: limit.isOver };
        },
        { snapshot: true },
      )
      .finally(() => clock.mockRestore());
    expect(kept).toEqual({ first: [{ n: 1 }], second: undefined, third: undefined, over: true });
    await store[Symbol.asyncDispose]();
    await remove();
  });
});
