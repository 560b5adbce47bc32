import { describe, expect, it } from '@jest/globals';
import { accept, openTestStore, testLocation } from '../../../test/support.ts';
import { createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';
import { usesLongPendingList } from './words-index.ts';

/** More documents than the first piece of a commit takes. */
const MANY = 400;

describe.each([1, 2])('tables for many documents on PostgreSQL, in a collection of %d shards', (shards) => {
  it('have all words in their index when a large commit shows them', async () => {
    await using own = await openOwnStore();
    const { store } = own;
    const collection = await createCollection(store, 'shop', { shards });
    await stopAutovacuum(store, collection);
    await accept(store, collection, documents(0, MANY));
    await commit(store, collection);
    expect(await pagesThatWait(store, collection)).toBe(0);
    // One that is soon done leaves its words to a later one.
    await accept(store, collection, documents(MANY, MANY + 10));
    await commit(store, collection);
    expect(await pagesThatWait(store, collection)).toBeGreaterThan(0);
  });

  it('leave it to sessions how many words wait', async () => {
    await using own = await openOwnStore();
    const collection = await createCollection(own.store, 'shop', { shards });
    const suffixes = shards === 1 ? [''] : ['_s0', '_s1'];
    expect(await wordsIndexes(own.store, collection)).toEqual(
      suffixes.map(() => [expect.stringMatching(/words/), null]),
    );
  });
});

describe('the list of words that wait', () => {
  it.each([
    ['nobody searches', { kind: 'postgres', isPausing: false, sinceLastSearch: 1_001 }, true],
    ['somebody searched just now', { kind: 'postgres', isPausing: false, sinceLastSearch: 1_000 }, false],
    ['another process searches', { kind: 'postgres', isPausing: true, sinceLastSearch: 60_000 }, false],
    ['the engine is PGlite', { kind: 'pglite', isPausing: false, sinceLastSearch: 60_000 }, false],
  ])('is as it should be where %s', (_, { kind, isPausing, sinceLastSearch }, expected) => {
    const engine = { kind, sinceLastSearch: () => sinceLastSearch };
    expect(usesLongPendingList({ engine, throttle: { isPausing } } as unknown as Store)).toBe(expected);
  });

  it('is long in transactions that ask for it, and short in others', async () => {
    await using own = await openOwnStore();
    for (const [longPendingList, expected] of [
      [false, '256kB'] as const,
      [true, '4MB'] as const,
      [false, '256kB'] as const,
    ]) {
      const show = 'select current_setting($1) as setting';
      const options = { longPendingList };
      expect(await own.store.engine.transaction((tx) => tx.query(show, ['gin_pending_list_limit']), options)).toEqual([
        { setting: expected },
      ]);
    }
  });
});

async function openOwnStore() {
  const { location, remove } = await testLocation('postgres');
  const store = await openTestStore(location);
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await remove();
    },
  };
}

const documents = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ id: `shoe-${from + i}`, title: `number ${from + i}` }));

const GIN = `pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_am a on a.oid = c.relam
  where n.nspname = $1 and a.amname = 'gin' and c.relkind = 'i'`;

/** It puts waiting words into their index at any time. */
async function stopAutovacuum(store: Store, { sqlSchema }: Collection): Promise<void> {
  await store.engine.query(
    `do $$ declare t regclass; begin
       for t in select oid from pg_class where relnamespace = '${sqlSchema}'::regnamespace and relkind = 'r' loop
         execute format('alter table %s set (autovacuum_enabled = off)', t);
       end loop;
     end $$`,
  );
}

/** Puts them into the index too. */
async function pagesThatWait(store: Store, { sqlSchema }: Collection): Promise<number> {
  const sql = `select sum(gin_clean_pending_list(c.oid))::int4 as pages from ${GIN}`;
  const [row] = await store.engine.query<{ pages: number }>(sql, [sqlSchema]);
  return row?.pages ?? 0;
}

async function wordsIndexes(store: Store, { sqlSchema }: Collection): Promise<[string, string[] | null][]> {
  const sql = `select relname, reloptions from ${GIN} order by relname`;
  return (await store.engine.query(sql, [sqlSchema])).map(({ relname, reloptions }) => [relname, reloptions]);
}
