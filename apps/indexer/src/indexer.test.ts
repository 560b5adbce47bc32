import { setTimeout as delay } from 'node:timers/promises';
import type { JobPayload } from '@akin/contract';
import type { Job, Queue } from '@akin/queue';
import { createMemoryQueue } from '@akin/queue/memory';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import {
  type AcceptedRange,
  claimForAnalysis,
  listOperations,
  type Store,
  waitForOperations,
} from '@akin/store/changes';
import { type Collection, collectionStatus, createCollection } from '@akin/store/database';
import { dropCollection } from '@akin/store/maintenance';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accept, openTestStore } from '../test/support.ts';
import { createIndexer, type Indexer, type IndexerConfig } from './indexer.ts';

type Result = JobPayload<'analyzed'>['result'];

const log = createLogger({ name: 'test', level: 'silent' });
const image = (id: string | number) => ({ id: String(id), image: `http://images.example/${id}.jpg` });
/** Many hosts, because the number of queued images of one host is limited. */
const imageOf = (id: number) => ({ id: String(id), image: `http://host-${id % 100}.example/${id}.jpg` });

describe('the indexer', () => {
  let database: TestDatabase;
  let store: Store;
  let collection: Collection;
  let queue: Queue;
  let indexer: Indexer | undefined;
  let created = 0;

  beforeAll(async () => {
    database = await testDatabase();
    store = await openTestStore(database.url);
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await database.drop();
  });
  beforeEach(async () => {
    collection = await createCollection(store, `collection-${created++}`);
    queue = createMemoryQueue();
  });
  afterEach(async () => {
    await indexer?.[Symbol.asyncDispose]();
    indexer = undefined;
    await queue[Symbol.asyncDispose]();
    if (collection !== undefined) await dropCollection(store, collection).catch(() => {});
  });

  /** An hour between the runs of background work, so that a test sees only the runs that it asks for. */
  function start(config: Partial<IndexerConfig> = {}): Indexer {
    const hour = 3_600_000;
    indexer = createIndexer({
      store,
      queue,
      log,
      metrics: createMetrics(),
      autoCommitMilliseconds: hour,
      sweepMilliseconds: hour,
      ...config,
    });
    return indexer;
  }

  /** Answers every analysis as the test says, in place of an analyzer. */
  function handleAnalyses(analyze: (payload: JobPayload<'analyze'>) => Result, on = queue): void {
    const handle = async ({ id, payload }: Job<'analyze'>) => {
      const { image: _, modules: __, ...ref } = payload;
      await on.add('analyzed', { ...ref, result: analyze(payload) }, { id });
    };
    on.work('analyze', handle, { concurrency: 10 });
  }

  const states = async () =>
    (await listOperations(store, collection, { limit: 1000 })).operations.map(({ id, state, error }) => [
      id,
      state,
      ...(error ? [error.code] : []),
    ]);

  const untilVisible = (accepted: AcceptedRange) =>
    waitForOperations(store, collection, accepted, { until: 'visible' });

  it('has images analyzed, and shows them after a requested commit', async () => {
    const seen: string[] = [];
    handleAnalyses(({ image }) => {
      seen.push(image);
      return { outputs: '{}', thumbnail: Buffer.from('webp').toString('base64') };
    });
    const { wake, commit } = start();
    const accepted = await accept(store, collection, [image('a'), { id: 'plain', price: 5 }, image('b')]);
    wake();
    expect(await waitForOperations(store, collection, accepted)).toEqual([]);
    expect(seen.sort()).toEqual([image('a').image, image('b').image]);
    expect((await collectionStatus(store, collection)).documents).toBe(0);
    expect(await commit(collection.name)).toMatchObject({ applied: 3, failed: 0 });
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 3, pending: 0 });
    await expect(commit('no-such-collection')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('does not blame another process for a collection that is dropped meanwhile', async () => {
    let commits = false;
    /** Drops the collection when a statement has found it. */
    const dropping = <Args extends unknown[], Row>(ask: (...args: Args) => Promise<Row[]>) => ({
      value: async (...args: Args) => {
        const rows = await ask(...args);
        if (commits && rows.some((row) => (row as { name?: unknown }).name === collection.name)) {
          commits = false;
          await dropCollection(store, collection);
        }
        return rows;
      },
    });
    const engine = Object.create(store.engine, {
      query: dropping(store.engine.query.bind(store.engine)),
      read: dropping(store.engine.read.bind(store.engine)),
    });
    const { commit } = start({ store: Object.create(store, { engine: { value: engine } }) });
    commits = true;
    await expect(commit(collection.name)).rejects.toMatchObject({ code: 'not-found' });
    expect(commits).toBe(false);
  });

  it('finds changes that other processes accepted without being woken, and commits automatically', async () => {
    handleAnalyses(() => ({ outputs: '{}' }));
    start({ autoCommitMilliseconds: 20 });
    await untilVisible(await accept(store, collection, [image('a')]));
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 1 });
  });

  it('marks an image that cannot be analyzed as failed, and shows the others', async () => {
    handleAnalyses(({ position }) =>
      position === 0
        ? { error: { code: 'unsupported-image', msg: 'This is a PDF file.' }, passing: false }
        : { outputs: '{}' },
    );
    const { wake, commit } = start();
    const accepted = await accept(store, collection, [image('pdf'), image('fine')]);
    wake();
    const failed = await waitForOperations(store, collection, accepted);
    expect(failed.map(({ id, error, attempt }) => [id, error, attempt])).toEqual([
      ['pdf', { code: 'unsupported-image', msg: 'This is a PDF file.' }, 1],
    ]);
    await commit(collection.name);
    expect(await states()).toEqual([
      ['pdf', 'failed', 'unsupported-image'],
      ['fine', 'visible'],
    ]);
  });

  it('retries temporary failures, and finally gives up', async () => {
    const attempts: number[][] = [[], []];
    handleAnalyses(({ position, attempt }) => {
      attempts[position]?.push(attempt);
      if (position === 0 && attempt === 2) return { outputs: '{}' };
      return { error: { code: 'image-unreachable', msg: 'It answered with status 503.' }, passing: true };
    });
    const { wake } = start();
    const accepted = await accept(store, collection, [image('soon'), image('never')]);
    wake();
    const failed = await waitForOperations(store, collection, accepted);
    expect(failed.map(({ id, error }) => [id, error?.code])).toEqual([['never', 'image-unreachable']]);
    expect(attempts).toEqual([
      [1, 2],
      [1, 2, 3],
    ]);
  });

  it('ends silently after the collection was dropped', async () => {
    const { wake } = start();
    await accept(store, collection, [image('a')]);
    wake();
    while ((await queue.counts('analyze')).waiting === 0) await delay(5);
    await dropCollection(store, collection);
    handleAnalyses(() => ({ outputs: '{}' }));
    while ((await queue.counts('analyze')).waiting + (await queue.counts('analyze')).active > 0) await delay(5);
    while ((await queue.counts('analyzed')).active > 0) await delay(5);
    expect(await queue.counts('analyzed')).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 0 });
  });

  it('drops the result of an outdated attempt', async () => {
    const late: Job<'analyze'>[] = [];
    queue.work('analyze', async (job) => void late.push(job), { concurrency: 1 });
    start().wake();
    await accept(store, collection, [image('a')]);
    while (late[0] === undefined) await delay(5);
    const { image: _, ...ref } = late[0].payload;
    await queue.add('analyzed', { ...ref, attempt: 0, result: { outputs: '{}' } }, { id: 'late' });
    while ((await queue.counts('analyzed')).waiting + (await queue.counts('analyzed')).active > 0) await delay(5);
    expect(await states()).toEqual([['a', 'analyzing']]);
  });

  it('queues jobs again that were lost with the queue', async () => {
    let lost = 0;
    const losing = queue.work('analyze', async () => void lost++, { concurrency: 10 });
    let sweeps = 0;
    const counting: Queue = {
      ...queue,
      liveJobs: (...args) => {
        sweeps++;
        return queue.liveJobs(...args);
      },
      [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
    };
    start({ queue: counting, sweepMilliseconds: 20 });
    const accepted = await accept(store, collection, [image('a'), image('b')]);
    while (lost < 2) await delay(5);
    await losing[Symbol.asyncDispose]();
    handleAnalyses(() => ({ outputs: '{}' }));
    const queuedAgo = (time: string) =>
      store.engine.query(`update ${collection.sqlSchema}.operations set available_at = now() - interval '${time}'`);
    // The queue is empty, but for some seconds the jobs may still be in transit; here as long as the sweeps take.
    await queuedAgo('-1 hour');
    for (const from = sweeps; sweeps < from + 6; ) await delay(5);
    expect(await states()).toEqual([
      ['a', 'analyzing'],
      ['b', 'analyzing'],
    ]);
    await queuedAgo('11 seconds');
    expect(await waitForOperations(store, collection, accepted)).toEqual([]);
  });

  it('asks the queue for the jobs of the models of the collections, although it does not have them', async () => {
    await store.engine.query(
      `insert into ${collection.sqlSchema}.descriptor_counts (module, documents, model) values ('content', 0, 'b')`,
    );
    await accept(store, collection, [image('a')]);
    await claimForAnalysis(store, 1);
    await store.engine.query(
      `update ${collection.sqlSchema}.operations set available_at = available_at - interval '11 seconds'`,
    );
    const asked = new Promise((resolve) => {
      const liveJobs: Queue['liveJobs'] = async (_name, ids, models) => {
        resolve([ids.length, models]);
        return new Set(ids);
      };
      start({ queue: { ...queue, liveJobs }, sweepMilliseconds: 20 });
    });
    expect(await asked).toEqual([1, new Set(['b'])]);
  });

  it('leaves images in the database while the queue accepts none', async () => {
    let broken = true;
    const flaky: Queue = {
      ...queue,
      add: (name, payload, options) =>
        broken ? Promise.reject(new Error('no connection')) : queue.add(name, payload, options),
      [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
    };
    handleAnalyses(() => ({ outputs: '{}' }));
    start({ queue: flaky });
    const accepted = await accept(store, collection, [image('a')]);
    const attempted = async () => (await listOperations(store, collection, { limit: 1 })).operations[0]?.attempt ?? 0;
    while ((await attempted()) === 0) await delay(5);
    while ((await states())[0]?.[1] !== 'queued') await delay(5);
    broken = false;
    expect(await waitForOperations(store, collection, accepted)).toEqual([]);
  });

  it('keeps the queue short, and puts the first images of a request before the rest', async () => {
    const accepted = await accept(
      store,
      collection,
      Array.from({ length: 900 }, (_, i) => imageOf(i)),
    );
    const first = start();
    first.wake();
    // Ends when the current dispatch has found the queue full.
    await first[Symbol.asyncDispose]();
    // The first 20, and enough of the rest for a slow analyzer.
    expect(await queue.counts('analyze')).toMatchObject({ waiting: 70 });
    start().wake();
    const order: number[] = [];
    handleAnalyses(({ position }) => {
      order.push(position);
      return { outputs: '{}' };
    });
    expect(await waitForOperations(store, collection, accepted)).toEqual([]);
    expect(order).toHaveLength(900);
    expect(order.slice(0, 20).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  it('makes changes of a collection visible while the commit of another one hangs', async () => {
    const other = await createCollection(store, `collection-${created++}`);
    await accept(store, collection, [{ id: 'a' }]);
    await store.engine.transaction(async (tx) => {
      await tx.query('select from akin.collections where id = $1 for update', [collection.id]);
      start({ autoCommitMilliseconds: 20 });
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      while ((await store.engine.query(waiting)).length === 0) await delay(5);
      const small = await accept(store, other, [{ id: 'b' }]);
      expect(await waitForOperations(store, other, small, { until: 'visible' })).toEqual([]);
      expect(await collectionStatus(store, collection)).toMatchObject({ documents: 0 });
    });
    await dropCollection(store, other);
  });

  it('ends its current work when it is disposed of, and another one continues', async () => {
    const accepted = await accept(
      store,
      collection,
      Array.from({ length: 300 }, (_, i) => image(i)),
    );
    let answered = 0;
    handleAnalyses(() => {
      answered++;
      return { outputs: '{}' };
    });
    const first = start();
    first.wake();
    while (answered < 50) await delay(1);
    await first[Symbol.asyncDispose]();
    start().wake();
    expect(await waitForOperations(store, collection, accepted)).toEqual([]);
    await indexer?.commit(collection.name);
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 300, pending: 0, failed: 0 });
  });
});
