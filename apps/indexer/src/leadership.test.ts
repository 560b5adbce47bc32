import type { Queue } from '@akin/queue';
import { createMemoryQueue } from '@akin/queue/memory';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import { openStore } from '@akin/store';
import { requestCommit, type Store, waitForOperations } from '@akin/store/changes';
import { type Collection, createCollection } from '@akin/store/database';
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
      descriptorTexts: () => new Map(),
      shardsFrom: 0,
    });
  const start = (store: Store | undefined, metrics = createMetrics()): Indexer => {
    if (store === undefined) throw new Error('no store');
    const hour = 3_600_000;
    const indexer = createIndexer({ store, queue, log, metrics, autoCommitMilliseconds: hour });
    indexers.push(indexer);
    return indexer;
  };
  const leader = async () => {
    const [row] = await gateway.engine.query<{ holder: string; epoch: bigint }>(
      `select l.holder, l.epoch from akin.leases l left join akin.lease_holders h using (holder)
        where l.collection = $1 and greatest(l.expires_at, h.expires_at) > now()`,
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

  it('have one leader, which commits at the request of another process', async () => {
    for (const store of stores) start(store);
    await untilLed();
    const accepted = await accept(gateway, collection, [{ id: 'a' }]);
    await requestCommit(gateway, collection);
    expect(await waitForOperations(gateway, collection, accepted, { until: 'visible' })).toEqual([]);
    await expect(Promise.all(indexers.map((indexer) => indexer.commit(collection.name)))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('help the leader with the shards of a commit', async () => {
    const [first, second] = stores;
    if (first === undefined) throw new Error('no store');
    // The leader takes no shard itself.
    const query: typeof first.engine.query = async (sql, ...rest) =>
      sql.includes('update akin.shard_leases l set claim') ? [] : first.engine.query(sql, ...rest);
    start({ ...first, engine: { ...first.engine, query } });
    collection = await createCollection(gateway, `sharded-${Date.now()}`, { shards: 4 });
    await untilLed();
    const metrics = createMetrics();
    start(second, metrics);
    const documents = Array.from({ length: 40 }, (_, i) => ({ id: `d${i}` }));
    const accepted = await accept(gateway, collection, documents);
    await requestCommit(gateway, collection);
    expect(await waitForOperations(gateway, collection, accepted, { until: 'visible' })).toEqual([]);
    while (!/^akin_shards_helped_total\{collection="sharded-\d+"\} ([4-9]|\d\d)$/m.test((await metrics.text()).text));
  });

  it('have a new leader at once when the leader ends', async () => {
    const first = start(stores[0]);
    const { epoch } = await untilLed();
    start(stores[1]);
    await first[Symbol.asyncDispose]();
    // Nobody has to wait for the lease to expire: it is released, or another process has it.
    const row = await leader();
    expect(row === undefined || row.epoch > epoch).toBe(true);
    await untilLed((row) => row.epoch > epoch);
  });

  it('end during a commit that would wait forever, and the next leader continues it', async () => {
    const first = start(stores[0]);
    await untilLed();
    const accepted = await accept(gateway, collection, [{ id: 'a' }]);
    const locked = `${collection.sqlSchema}.documents`;
    let asked: Promise<unknown> | undefined;
    await gateway.engine.transaction(async (tx) => {
      await tx.query('set local idle_in_transaction_session_timeout = 0');
      await tx.query(`lock table ${locked}`);
      asked = requestCommit(gateway, collection);
      for (let waits = false; !waits; ) {
        const [row] = await tx.query<{ waits: boolean }>(
          'select exists (select from pg_locks where relation = $1::regclass and not granted) as waits',
          [locked],
        );
        waits = row?.waits === true;
      }
      await first[Symbol.asyncDispose]();
      expect(await leader()).toBeUndefined();
    });
    start(stores[1]);
    await asked;
    expect(await waitForOperations(gateway, collection, accepted, { until: 'visible' })).toEqual([]);
  });

  it('have a new leader when the lease of a dead one expires, and requests are answered', async () => {
    // As a killed leader leaves it.
    await gateway.engine.query(
      `insert into akin.leases (collection, epoch, holder, expires_at)
       values ($1, 7, 'a process that died', now() + interval '2 seconds')`,
      [collection.id],
    );
    start(stores[1]);
    const accepted = await accept(gateway, collection, [{ id: 'a' }]);
    await requestCommit(gateway, collection);
    await untilLed((row) => row.epoch > 7n);
    expect(await waitForOperations(gateway, collection, accepted, { until: 'visible' })).toEqual([]);
  });
});
