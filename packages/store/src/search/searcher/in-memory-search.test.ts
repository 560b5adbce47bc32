import { setImmediate as tick } from 'node:timers/promises';
import { createRandom, parseQuery } from '@akin/domain';
import { summaryOf } from '@akin/searcher';
import { onPostgres } from '@akin/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, ENGINES, openTestStore, testOutputs } from '../../../test/support.ts';
import { watchThreads } from '../../../test/threads.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import type { Transaction } from '../../database/engine/engine.ts';
import { search } from '../search.ts';
import { InMemorySearch } from './in-memory-search.ts';
import { CHUNK_ROWS } from './read-rows.ts';

const EXACT = 50;
const COUNT = 400;
const random = createRandom(4);

/** A document with a vector of length 1. */
const made = (n: number) => {
  const numbers = [random() + 0.1, random(), random(), random()];
  const length = Math.hypot(...numbers);
  return { id: `d${n}`, n, import: testOutputs({ shape: numbers.map((number) => number / length) }) };
};

describe.each(ENGINES)('the memory for searches on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let first: Collection;
  let second: Collection;
  let inMemory: InMemorySearch | undefined;

  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      first = await createCollection(store, 'first');
      second = await createCollection(store, 'second');
      for (const collection of [first, second]) {
        await accept(
          store,
          collection,
          Array.from({ length: COUNT }, (_, n) => made(n)),
        );
        await commit(store, collection);
      }
    },
    (location) => openTestStore(location, 0, { exactDocuments: EXACT }),
  );
  afterEach(async () => inMemory?.[Symbol.asyncDispose]());

  /** The same store with another memory for searches. */
  const withMemory = (memory?: number): Store => {
    inMemory = new InMemorySearch({ exactRows: EXACT, memory });
    return { ...store, inMemory };
  };
  const find = async (from: Store, collection: Collection, fq: readonly string[] = [], timeAllowed?: number) => {
    const filters = fq.map((one) => parseQuery(one));
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    const request = { query: parseQuery('*:*'), filters, rank, rows: 5, timeAllowed };
    const { ranking, numFound } = await search(from, collection, request);
    return { inMemory: ranking?.inMemory, numFound };
  };
  /** What both collections take. */
  let memory: number | undefined;
  const memoryOfBoth = async () => {
    if (memory !== undefined) return memory;
    await using both = new InMemorySearch({ exactRows: EXACT });
    for (const collection of [first, second]) {
      expect(await both.read(store, collection, { module: 'shape', documents: COUNT, dimensions: 4 })).toBe(true);
    }
    memory = both.use.bytes;
    return memory;
  };

  it('holds for collections that are first searched at once', async () => {
    const share = 0.75 * (await memoryOfBoth());
    const small = withMemory(share);
    const asked = jest.spyOn(small.inMemory, 'read');
    const { engine } = store;
    const transaction: typeof engine.transaction = async (run, options) => {
      // The first one is being read until the other one is wanted too.
      while (options?.lane === 'bulk' && asked.mock.calls.length < 2) await tick();
      return engine.transaction(run, options);
    };
    const atOnce = { ...small, engine: { ...engine, transaction } };
    const found = await Promise.all([first, second].map((collection) => find(atOnce, collection)));
    expect(found).toContainEqual({ inMemory: true, numFound: COUNT });
    expect(found).toContainEqual({ inMemory: false, numFound: COUNT });
    expect(small.inMemory.use).toMatchObject({ collections: 1 });
    expect(small.inMemory.use.bytes).toBeLessThanOrEqual(share);
    // One after the other takes the place of the one before.
    for (const collection of [first, second, first]) {
      expect(await find(small, collection)).toEqual({ inMemory: true, numFound: COUNT });
      expect(small.inMemory.use.bytes).toBeLessThanOrEqual(share);
    }
  });

  itOnPostgres('does not let background work wait for data when it must end', async () => {
    const { inMemory } = withMemory();
    const ending = new AbortController();
    await store.engine.transaction(async (tx) => {
      await tx.query(`lock table ${first.sqlSchema}.documents`);
      // The clock stands still: only the signal ends the waiting.
      jest.useFakeTimers({
        doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance'],
      });
      const wanted = { module: 'shape', documents: COUNT, dimensions: 4 };
      const held = inMemory.findForBackground(store, first, wanted, {
        commit: 1n,
        isWorthReading: true,
        signal: ending.signal,
      });
      ending.abort();
      expect(await held).toBeUndefined();
      jest.useRealTimers();
    });
  });

  itOnPostgres('reads what a commit changed without reading the other documents', async () => {
    const collection = await createCollection(store, 'changed');
    const make = (from: number, count: number) => Array.from({ length: count }, (_, n) => made(from + n));
    await accept(store, collection, make(0, COUNT));
    await commit(store, collection);
    const rowsRead: number[] = [];
    const readSoFar = async (tx: Transaction) => {
      const [row] = await tx.query<{ read: bigint }>(
        `select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
          where schemaname = $1 and relname = 'documents'`,
        [collection.sqlSchema],
      );
      return Number(row?.read ?? 0);
    };
    const transaction: Store['engine']['transaction'] = (work, options) =>
      store.engine.transaction(async (tx, first) => {
        const before = await readSoFar(tx);
        const result = await work(tx, first);
        rowsRead.push((await readSoFar(tx)) - before);
        return result;
      }, options);
    const engine = new Proxy(store.engine, {
      get(target, name) {
        const value = name === 'transaction' ? transaction : Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await using memory = new InMemorySearch({ exactRows: EXACT });
    const read = () =>
      memory.read({ ...store, engine }, collection, { module: 'shape', documents: COUNT, dimensions: 4 });
    await read();
    expect(Math.max(...rowsRead)).toBeGreaterThanOrEqual(COUNT);
    await accept(store, collection, make(COUNT - 1, 3));
    await commit(store, collection);
    rowsRead.length = 0;
    await read();
    // Three came, and one of them replaced another.
    expect(Math.max(...rowsRead)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...rowsRead)).toBeLessThan(20);
  });

  itOnPostgres('holds for a collection of which there is more than was known', async () => {
    const taken = (await memoryOfBoth()) / 2;
    const small = withMemory(taken / 2);
    expect(await small.inMemory.read(store, first, { module: 'shape', documents: 1, dimensions: 4 })).toBe(false);
    expect(small.inMemory.use).toMatchObject({ collections: 0, bytes: 0 });
    // It is not read again.
    expect(await find(small, first)).toEqual({ inMemory: false, numFound: COUNT });
    expect(small.inMemory.use).toMatchObject({ collections: 0, bytes: 0 });
  });

  it('holds for filters: those that are not in use go', async () => {
    const small = withMemory((await memoryOfBoth()) / 2 + 1_000);
    expect(await small.inMemory.read(store, first, { module: 'shape', documents: 1, dimensions: 4 })).toBe(true);
    for (let n = 0; n < 30; n++) {
      expect(await find(small, first, [`n:[${n} TO *]`])).toEqual({ inMemory: true, numFound: COUNT - n });
      expect(small.inMemory.use.bytes).toBeLessThanOrEqual(small.inMemory.use.limit);
    }
    expect(small.inMemory.use.filters).toBeLessThan(30);
  });

  it('holds for what commits bring', async () => {
    const collection = await createCollection(store, 'growing');
    await accept(
      store,
      collection,
      Array.from({ length: 100 }, (_, n) => made(n)),
    );
    await commit(store, collection);
    const large = withMemory();
    expect(await find(large, collection)).toEqual({ inMemory: true, numFound: 100 });
    await using inMemory = new InMemorySearch({ exactRows: EXACT, memory: 1.25 * large.inMemory.use.bytes });
    const small = { ...store, inMemory };
    expect(await find(small, collection)).toEqual({ inMemory: true, numFound: 100 });
    let count = 100;
    while (inMemory.use.collections > 0) {
      await accept(
        store,
        collection,
        Array.from({ length: 500 }, (_, n) => made(count + n)),
      );
      await commit(store, collection);
      count += 500;
      expect((await find(small, collection)).numFound).toBe(count);
      expect(inMemory.use.bytes).toBeLessThanOrEqual(inMemory.use.limit);
    }
    expect(await find(large, collection)).toEqual({ inMemory: true, numFound: count });
    if (kind === 'postgres') {
      // Commits that add and delete more than a search takes in.
      const more = CHUNK_ROWS + 100;
      await accept(
        store,
        collection,
        Array.from({ length: more }, (_, n) => made(1_500 + n)),
      );
      await commit(store, collection);
      const rowsRead: number[] = [];
      const transaction: Store['engine']['transaction'] = (work, options) =>
        store.engine.transaction(
          (tx, first) =>
            work(
              {
                ...tx,
                copy: async (sql) => {
                  const bytes = await tx.copy(sql);
                  rowsRead.push(summaryOf(bytes).count);
                  return bytes;
                },
              },
              first,
            ),
          options,
        );
      const watched = { ...large, engine: { ...store.engine, transaction } };
      expect(await find(watched, collection)).toEqual({ inMemory: true, numFound: count + more });
      // No row is read twice, by the search and by the reading that it waits for.
      expect(rowsRead).toEqual([CHUNK_ROWS, 100]);
    }
    await accept(store, collection, [{ kind: 'delete-by-query', query: 'n:[20 TO *]' }]);
    await commit(store, collection);
    expect(await find(large, collection)).toEqual({ inMemory: true, numFound: 20 });
  });

  it('is not waited for longer than half of the time that a search has', async () => {
    const slow = withMemory();
    const read = slow.inMemory.read.bind(slow.inMemory);
    let time: number | undefined;
    const asked = jest.spyOn(slow.inMemory, 'read').mockImplementationOnce((source, collection, missing, most) => {
      time = most;
      return read(source, collection, missing, 1);
    });
    let isRead: () => void = () => undefined;
    const late = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    const { engine } = store;
    const transaction: typeof engine.transaction = async (run, options) => {
      if (options?.lane === 'bulk') await late;
      return engine.transaction(run, options);
    };
    const found = await find({ ...slow, engine: { ...engine, transaction } }, first, [], 3_600_000);
    expect(found).toEqual({ inMemory: false, numFound: COUNT });
    expect(asked).toHaveBeenCalledTimes(1);
    expect(time).toBeGreaterThan(0);
    expect(time).toBeLessThanOrEqual(1_800_000);
    isRead();
    // It was read on meanwhile.
    expect(await find(slow, first)).toEqual({ inMemory: true, numFound: COUNT });
  });

  it('refuses a third search at a time that compares a large collection in the database, and says why', () => {
    const { inMemory } = withMemory();
    const running = [1, 2].map(() => inMemory.databaseTurn());
    for (const turn of [...running, ...running]) turn.take();
    const third = inMemory.databaseTurn();
    expect(() => third.take()).toThrow(/compare all documents in the database.*Search again/);
    running[0]?.[Symbol.dispose]();
    third.take();
  });

  it('starts no thread any more once it is closed', async () => {
    const closed = withMemory();
    const watched = watchThreads('searcher');
    const reading = closed.inMemory.read(store, first, { module: 'shape', documents: COUNT, dimensions: 4 });
    await closed.inMemory[Symbol.asyncDispose]();
    expect(await reading).toBe(false);
    const { length } = watched.threads;
    expect(await find(closed, first)).toEqual({ inMemory: false, numFound: COUNT });
    expect(watched.threads).toHaveLength(length);
    watched.end();
  });
});
