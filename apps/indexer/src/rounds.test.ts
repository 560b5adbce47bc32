import { setTimeout as delay } from 'node:timers/promises';
import { createMemoryQueue } from '@akin/queue/memory';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import { commit, retryFailed, type Store } from '@akin/store/changes';
import { type Collection, collectionStates, createCollection } from '@akin/store/database';
import { dropCollection } from '@akin/store/maintenance';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accept, openTestStore } from '../test/support.ts';
import { createIndexer } from './indexer.ts';
import { Rounds } from './rounds.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const { signal } = new AbortController();

describe('work in many collections', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await testDatabase();
    store = await openTestStore(database.url);
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await database.drop();
  });

  /** The names of the collections in which a round did some work. */
  async function worked(
    rounds: Rounds,
    work: (collection: Collection) => Promise<boolean> = async () => true,
  ): Promise<string[]> {
    const names: string[] = [];
    await rounds.run(
      await collectionStates(store),
      (collection) => {
        names.push(collection.name);
        return work(collection);
      },
      signal,
    );
    return names;
  }

  it('is done where something changed, or remained', async () => {
    const [a, b] = [await createCollection(store, 'a'), await createCollection(store, 'b')];
    const rounds = new Rounds(store, log, 'failed');
    expect(await worked(rounds)).toEqual(['a', 'b', 'my-collection']);
    expect(await worked(rounds)).toEqual([]);
    await accept(store, a, [{ id: 'x' }]);
    expect(await worked(rounds, async () => false)).toEqual(['a']);
    expect(await worked(rounds)).toEqual(['a']);
    await commit(store, a);
    expect(await worked(rounds)).toEqual(['a']);
    expect(await worked(rounds)).toEqual([]);
    await dropCollection(store, a);
    await dropCollection(store, b);
  });

  it('continues with the others after a failure in one, and is repeated there', async () => {
    const [a, b] = [await createCollection(store, 'a'), await createCollection(store, 'b')];
    const rounds = new Rounds(store, log, 'failed');
    const failing = async ({ id }: Collection) => {
      if (id === a.id) throw new Error('It fails here.');
      return true;
    };
    expect(await worked(rounds, failing)).toEqual(['a', 'b', 'my-collection']);
    expect(await worked(rounds)).toEqual(['a']);
    await dropCollection(store, a);
    await dropCollection(store, b);
  });

  it('knows which collections have changes under way', async () => {
    const collection = await createCollection(store, 'a');
    const isOpen = async () =>
      (await collectionStates(store, 'open')).some(({ collection: { id } }) => id === collection.id);
    await commit(store, collection);
    expect(await isOpen()).toBe(false);
    await accept(store, collection, [{ id: 'x' }]);
    expect(await isOpen()).toBe(true);
    await commit(store, collection);
    expect(await isOpen()).toBe(false);
    // Its picture is not analyzed yet.
    await accept(store, collection, [{ id: 'y', image: 'http://images.example/y.jpg' }]);
    await commit(store, collection);
    expect(await isOpen()).toBe(true);
    await store.engine.query(
      `update ${collection.sqlSchema}.operations set state = 'failed', error_code = 'internal' where state = 'queued'`,
    );
    await commit(store, collection);
    await store.engine.query(`update ${collection.sqlSchema}.requests set finished = true`);
    await commit(store, collection);
    expect(await isOpen()).toBe(false);
    await retryFailed(store, collection);
    expect(await isOpen()).toBe(true);
    await dropCollection(store, collection);
  });

  it('needs no statement for each idle collection', async () => {
    let statements: string[] = [];
    const engine: Store['engine'] = {
      ...store.engine,
      query: (sql, ...rest) => {
        statements.push(sql);
        return store.engine.query(sql, ...rest);
      },
      transaction: (run, options) =>
        store.engine.transaction((tx, first) => {
          const query: typeof tx.query = (sql, params) => {
            statements.push(sql);
            return tx.query(sql, params);
          };
          return run({ ...tx, query }, first);
        }, options),
    };
    const statementsPerPoll: number[] = [];
    for (let made = 0; made < 20; ) {
      for (let i = 0; i < 10; i++) await createCollection(store, `rest-${made++}`);
      await using queue = createMemoryQueue();
      const metrics = createMetrics();
      const config = { store: { ...store, engine }, queue, log, metrics };
      await using indexer = createIndexer({ ...config, autoCommitMilliseconds: 5, sweepMilliseconds: 5 });
      indexer.wake();
      // Each loop reads all collections by one statement. Statements in one collection name its schema, or its number.
      const isPoll = (sql: string) => sql.includes('xmin::text as version');
      for (let looks = 0; ; looks = statements.filter(isPoll).length) {
        if (looks >= 40 && !statements.some((sql) => /\bc\d+_/.test(sql))) break;
        if (looks >= 40) statements = [];
        await metrics.text();
        await delay(5);
      }
      statementsPerPoll.push(statements.length / statements.filter(isPoll).length);
    }
    for (const count of statementsPerPoll) expect(count).toBeLessThan(3);
  });
});
