import { Searcher, summaryOf } from '@akin/searcher';
import { afterEach, describe, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, changesOf, testOutputs } from '../../../test/support.ts';
import { Staging } from '../../changes/accept/staging.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { InMemoryCollection } from './in-memory-collection.ts';
import { CHUNK_ROWS } from './read-rows.ts';

/** More documents than a search adds by itself. */
const MANY = CHUNK_ROWS + 100;

describe('a collection in memory', () => {
  let store: Store;
  let searcher: Searcher | undefined;
  let made = 0;

  sharedStore('postgres', (opened) => {
    store = opened;
  });
  afterEach(() => searcher?.[Symbol.asyncDispose]());

  const begin = async () => {
    const collection = await createCollection(store, `pictures-${made++}`);
    searcher = new Searcher({ threads: 1, exactRows: 50 });
    const held = new InMemoryCollection(
      searcher,
      0,
      collection,
      async () => {},
      () => Number.POSITIVE_INFINITY,
    );
    return { collection, held };
  };
  /** Adds documents in one commit, and deletes one if given. */
  const add = async (collection: Collection, from: number, count: number, deleted?: string) => {
    const outputs = testOutputs({ shape: [1, 0, 0, 0] });
    const documents = Array.from({ length: count }, (_, n) => ({ id: `d${from + n}`, import: outputs }));
    const staging = new Staging(store, collection);
    await staging.add(await changesOf(store, collection, documents));
    await staging.accept();
    if (deleted !== undefined) await accept(store, collection, [{ kind: 'delete', id: deleted }]);
    await commit(store, collection);
  };
  /** The store, which does something each time after rows were copied from it. */
  const watched = (copied: (rows: number, times: number) => Promise<unknown>): Store => {
    let times = 0;
    const transaction: Store['engine']['transaction'] = async (work, options) => {
      const rows: number[] = [];
      const result = await store.engine.transaction((tx, first) => {
        const copy = async (sql: string) => {
          const bytes = await tx.copy(sql);
          rows.push(summaryOf(bytes).count);
          return bytes;
        };
        return work({ ...tx, copy }, first);
      }, options);
      for (const count of rows) await copied(count, ++times);
      return result;
    };
    return { ...store, engine: { ...store.engine, transaction } };
  };
  const count = (held: InMemoryCollection, commit: number) =>
    held.count({ commit, module: 'shape', restrictions: [{ filters: [] }] });

  it('has what was committed while it was read, with housekeeping all the time', async () => {
    const { collection, held } = await begin();
    await add(collection, 0, 10);
    const rows: number[] = [];
    const source = watched(async (count, times) => {
      rows.push(count);
      if (times === 1) await add(collection, 10, MANY, 'd3');
      if (times === 2) await add(collection, 10 + MANY, 1, 'd5');
      await maintain(store, [collection]);
    });
    await held.read(source, 'shape', 0);
    // All, what the next commit brought, and what came during that.
    expect(rows).toEqual([10, CHUNK_ROWS, 100, 1]);
    expect([held.has(3n, 'shape'), await count(held, 3)]).toEqual([true, [10 + MANY + 1 - 2]]);
    await add(collection, 20 + MANY, 1);
    expect(await store.engine.transaction((tx) => held.catchUp(tx, 4n, 'shape'))).toBe(true);
    expect(await store.engine.query('select from akin.pins')).toEqual([]);
  });

  it('keeps the rows for as long as it is read', async () => {
    const { collection, held } = await begin();
    await add(collection, 0, 10);
    const left: boolean[] = [];
    const source = watched(async (_, times) => {
      const [pin] = await store.engine.query<{ long: boolean }>(
        `select expires_at > now() + interval '5 minutes' as long from akin.pins`,
      );
      left.push(pin?.long === true);
      // Time passes.
      await store.engine.query(`update akin.pins set expires_at = now() + interval '1 minute'`);
      if (times === 1) await add(collection, 10, 1);
    });
    await held.read(source, 'shape', 0);
    expect(left).toEqual([true, true]);
  });

  it('is not used if rows may have been removed while it was read', async () => {
    const { collection, held } = await begin();
    await add(collection, 0, 10);
    const source = watched(async () => {
      await store.engine.query(`update akin.pins set expires_at = now() - interval '1 second'`);
      await add(collection, 10, 1, 'd3');
      await maintain(store, [collection]);
    });
    await expect(held.read(source, 'shape', 0)).rejects.toMatchObject({ code: 'conflict' });
    expect([held.has(1n, 'shape'), held.has(2n, 'shape')]).toEqual([false, false]);
    await held.read(store, 'shape', 0);
    expect([held.has(2n, 'shape'), await count(held, 2)]).toEqual([true, [10]]);
  });

  it('is not read again for rows that were removed when it had already read which ones ended', async () => {
    const { collection, held } = await begin();
    await add(collection, 0, 10);
    await held.read(store, 'shape', 0);
    await add(collection, 10, MANY, 'd3');
    await add(collection, 10 + MANY, 1, 'd5');
    const rows: number[] = [];
    const source = watched(async (count) => {
      rows.push(count);
      await maintain(store, [collection]);
    });
    await held.read(source, 'shape', 0);
    expect([rows, await count(held, 3)]).toEqual([[CHUNK_ROWS, 101], [10 + MANY + 1 - 2]]);
  });
});
