import { createMemoryQueue, type Queue } from '@akin/queue';
import { createLogger, createMetrics } from '@akin/runtime';
import {
  type Collection,
  createCollection,
  openStore,
  requestCommit,
  type Store,
  waitForOperations,
} from '@akin/store';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accept } from '../test/support.ts';
import { createIndexer, type Indexer } from './indexer.ts';

const log = createLogger({ name: 'test', level: 'silent' });

describe('several indexers on one database', () => {
  let database: TestDatabase;
  let stores: Store[];
  let gateway: Store;
  let queue: Queue;
  let collection: Collection;
  const indexers: Indexer[] = [];

  const open = () =>
    openStore({
      databaseUrl: database.url,
      shared: true,
      modules: [],
      parseOutputs: () => ({ fields: new Map(), descriptors: new Map() }),
    });
  const start = (store: Store | undefined): Indexer => {
    if (store === undefined) throw new Error('no store');
    const hour = 3_600_000;
    const indexer = createIndexer({ store, queue, log, metrics: createMetrics(), autoCommitMilliseconds: hour });
    indexers.push(indexer);
    return indexer;
  };
  const leader = async () => {
    const [row] = await gateway.engine.query<{ holder: string; epoch: bigint }>(
      'select holder, epoch from akin.leases where collection = $1 and until > now()',
      [collection.id],
    );
    return row;
  };
  const untilLed = async (by: (row: { holder: string; epoch: bigint }) => boolean = () => true) => {
    for (;;) {
      const row = await leader();
      if (row !== undefined && by(row)) return row;
    }
  };

  beforeAll(async () => {
    database = await testDatabase();
    stores = [await open(), await open()];
    gateway = await open();
  });
  afterAll(async () => {
    for (const store of [...stores, gateway]) await store[Symbol.asyncDispose]();
    await database.drop();
  });
  beforeEach(async () => {
    queue = createMemoryQueue();
    collection = await createCollection(gateway, `collection-${Date.now()}`);
  });
  afterEach(async () => {
    for (const indexer of indexers.splice(0)) await indexer[Symbol.asyncDispose]();
    await queue[Symbol.asyncDispose]();
  });

  it('have one leader, which commits when another process asks', async () => {
    for (const store of stores) start(store);
    await untilLed();
    const accepted = await accept(gateway, collection, [{ id: 'a' }]);
    await requestCommit(gateway, collection);
    expect(await waitForOperations(gateway, collection, accepted, { until: 'visible' })).toEqual([]);
    await expect(Promise.all(indexers.map((indexer) => indexer.commit(collection.name)))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('hand the lead over at once when the leader ends', async () => {
    const first = start(stores[0]);
    const { epoch } = await untilLed();
    start(stores[1]);
    const from = performance.now();
    await first[Symbol.asyncDispose]();
    await untilLed((row) => row.epoch > epoch);
    expect(performance.now() - from).toBeLessThan(3_000);
  });

  it('have a new leader within ten seconds when the leader is gone without a word, and what was asked is done', async () => {
    const { epoch } = await untilLedBy('a process that died');
    start(stores[1]);
    const accepted = await accept(gateway, collection, [{ id: 'a' }]);
    const from = performance.now();
    await requestCommit(gateway, collection);
    expect(performance.now() - from).toBeLessThan(10_000);
    expect((await leader())?.epoch).toBeGreaterThan(epoch);
    expect(await waitForOperations(gateway, collection, accepted, { until: 'visible' })).toEqual([]);
  });

  /** A lease as a leader leaves it that was just killed. */
  async function untilLedBy(holder: string): Promise<{ epoch: bigint }> {
    await gateway.engine.query(
      `insert into akin.leases (collection, epoch, holder, until) values ($1, 7, $2, now() + interval '5 seconds')`,
      [collection.id, holder],
    );
    return untilLed();
  }
});
