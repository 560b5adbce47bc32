import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accept, openTestStore, TEST_STORE, visible } from '../../../test/support.ts';
import { createCollection, listCollections } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { openStore } from '../../store.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';
import { completeCommitRequests, requestCommit, requestedCommits } from './commit-requests.ts';
import {
  countCollectionsWithoutLeader,
  findLeases,
  type Lease,
  releaseLeases,
  renewLeases,
  requireLease,
  takeLeases,
} from './leases.ts';

const WAITING_FOR_LOCK =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

describe('a database that several processes share', () => {
  let database: TestDatabase;
  let one: Store;
  let other: Store;
  let collection: Collection;
  let created = 0;

  const open = () =>
    openStore({
      databaseUrl: database.url,
      shared: true,
      ...TEST_STORE,
    });

  beforeAll(async () => {
    database = await testDatabase();
    // At once, on an empty database.
    [one, other] = await Promise.all([open(), open()]);
  });
  afterAll(async () => {
    for (const store of [one, other]) await store?.[Symbol.asyncDispose]();
    await database.drop();
  });
  beforeEach(async () => {
    collection = await createCollection(one, `collection-${created++}`);
  });

  /** As time does. */
  const runOut = async (ago = '1 second', { id } = collection) => {
    const [row] = await one.engine.query<{ holder: string }>(
      `update akin.leases set expires_at = now() - $2::interval where collection = $1 returning holder`,
      [id, ago],
    );
    await one.engine.query('update akin.lease_holders set expires_at = now() - $2::interval where holder = $1', [
      row?.holder ?? '',
      ago,
    ]);
  };
  /** What an indexer does each second, for one collection. */
  const hold = async (store: Store, holder: string, milliseconds = 60_000): Promise<Lease | undefined> => {
    const wanted = (await findLeases(store, holder)).filter((one) => one.collection.id === collection.id);
    await takeLeases(store, wanted, holder, milliseconds);
    return (await renewLeases(store, holder, milliseconds)).get(collection.id);
  };
  const take = async (store: Store, holder: string): Promise<Lease> => {
    const lease = await hold(store, holder);
    if (lease === undefined) throw new Error('not to be had');
    return lease;
  };

  it('is set up once, by any process, and admits no process that wants it exclusively', async () => {
    for (const store of [one, other]) {
      expect((await listCollections(store)).map(({ name }) => name)).toContain('my-collection');
    }
    expect((await listCollections(other)).filter(({ name }) => name === 'my-collection')).toHaveLength(1);
    await expect(openTestStore({ databaseUrl: database.url })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another akin uses this database'),
    });
  });

  it('keeps leases beyond their own end as long as their holder renews', async () => {
    const first = await take(one, 'a');
    await one.engine.query(`update akin.leases set expires_at = now() - interval '1 hour' where collection = $1`, [
      collection.id,
    ]);
    expect(await hold(other, 'b')).toBeUndefined();
    expect(await take(one, 'a')).toEqual(first);
  });

  it('needs as many statements for 20 collections as for 10: to renew leases, and to find free ones', async () => {
    const counted = async () => {
      let statements = 0;
      const engine: Store['engine'] = {
        ...one.engine,
        query: (...args) => {
          statements++;
          return one.engine.query(...args);
        },
        transaction: (...args) => {
          statements++;
          return one.engine.transaction(...args);
        },
      };
      const store = { ...one, engine };
      const held = await renewLeases(store, 'of many', 60_000);
      const renewing = statements;
      expect(await findLeases(store, 'of many')).toEqual([]);
      return { held: held.size, renewing, finding: statements - renewing };
    };
    const rest = (await findLeases(one, 'others')).filter(({ collection: { name } }) => !name.startsWith('many-'));
    await takeLeases(one, rest, 'others', 60_000);
    await renewLeases(one, 'others', 60_000);
    const results = [];
    for (let made = 0; made < 20; ) {
      for (let i = 0; i < 10; i++) await createCollection(one, `many-${made++}`);
      const taken = await takeLeases(one, await findLeases(one, 'of many'), 'of many', 60_000);
      expect(taken.size).toBe(10);
      results.push(await counted());
    }
    expect(results).toEqual([
      { held: 10, renewing: 1, finding: 2 },
      { held: 20, renewing: 1, finding: 2 },
    ]);
    await releaseLeases(one, 'of many');
    await releaseLeases(one, 'others');
  });

  it('renews leases during a commit, and takes over others while it waits for one', async () => {
    const busy = collection;
    const lease = await take(one, 'leader');
    collection = await createCollection(one, `collection-${created++}`);
    const idle = collection;
    await take(one, 'leader');
    for (const one of [busy, idle]) await runOut('1 second', one);
    await one.engine.transaction(async (tx) => {
      // A busy machine may take longer.
      await tx.query('set local idle_in_transaction_session_timeout = 0');
      await requireLease(tx, busy, lease);
      expect((await renewLeases(one, 'leader', 60_000)).size).toBe(2);
      await one.engine.query(`update akin.lease_holders set expires_at = now() - interval '1 second'`);
      const wanted = (await findLeases(other, 'b')).filter(({ collection: { id } }) => [busy.id, idle.id].includes(id));
      expect(wanted).toHaveLength(2);
      expect([...(await takeLeases(other, wanted, 'next', 60_000)).keys()]).toEqual([idle.id]);
    });
    expect((await takeLeases(other, await findLeases(other, 'next'), 'next', 60_000)).has(busy.id)).toBe(true);
    await releaseLeases(other, 'next');
  });

  it('gives an expired or released lease to the next holder, with a higher epoch', async () => {
    const first = await take(one, 'a');
    await runOut();
    const second = await take(other, 'b');
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(await hold(one, 'a')).toBeUndefined();
    await releaseLeases(other, 'b');
    expect((await take(one, 'a')).epoch).toBeGreaterThan(second.epoch);
  });

  it('gives a lease to one of many concurrent processes', async () => {
    const leases = await Promise.all(Array.from({ length: 20 }, (_, i) => hold(i % 2 ? one : other, `holder ${i}`)));
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('publishes nothing by a commit that lost its lease, and loses no change', async () => {
    const old = await take(one, 'a');
    await accept(one, collection, [{ id: 'x', price: 1 }]);
    await runOut();
    const lease = await take(other, 'b');
    await expect(commit(one, collection, old)).rejects.toMatchObject({ code: 'conflict' });
    expect(await visible(one, collection)).toEqual([]);
    expect(await commit(other, collection, lease)).toMatchObject({ commit: 1, applied: 1 });
    expect(await visible(one, collection)).toEqual(['x']);
  });

  it.each([
    ['documents', [{ id: 'x' }, { id: 'y' }]],
    ['a delete by query', [{ id: 'x' }, { kind: 'delete-by-query', query: 'id:y' }]],
  ])('stops a commit that loses its lease between two transactions: %s', async (_, changes) => {
    const old = await take(one, 'a');
    await accept(one, collection, changes);
    let transactions = 0;
    let lease: Lease | undefined;
    const engine: Store['engine'] = {
      ...one.engine,
      transaction: async (run, options) => {
        const result = await one.engine.transaction(run, options);
        // The first process reads ready operations, the second one applies them.
        if (++transactions === 2) {
          await runOut();
          lease = await take(other, 'b');
        }
        return result;
      },
    };
    await expect(commit({ ...one, engine }, collection, old)).rejects.toMatchObject({ code: 'conflict' });
    expect(await visible(one, collection)).toEqual([]);
    await commit(other, collection, lease);
    expect(await visible(one, collection)).toEqual(
      changes.length === 2 && 'kind' in (changes[1] ?? {}) ? ['x'] : ['x', 'y'],
    );
  });

  it('makes the process that takes over a lease wait for the running transaction', async () => {
    const old = await take(one, 'a');
    await runOut();
    let taken = false;
    const taking = await one.engine.transaction(async (tx) => {
      await tx.query('set local idle_in_transaction_session_timeout = 0');
      await requireLease(tx, collection, old);
      const next = take(other, 'b').then(() => {
        taken = true;
      });
      // Long enough to be seen waiting.
      while ((await one.engine.query(WAITING_FOR_LOCK)).length === 0);
      expect(taken).toBe(false);
      return { next };
    });
    await taking.next;
    expect(taken).toBe(true);
  });

  it('gives the lease of a collection to a process with its models, before all others', async () => {
    const ours = {
      shared: true,
      ...TEST_STORE,
      databaseUrl: database.url,
    };
    await using old = await openStore({ ...ours, models: new Map([['shape', 'a-1']]) });
    await using young = await openStore({ ...ours, models: new Map([['shape', 'b-1']]) });
    collection = await createCollection(old, 'of-a-1');
    // It was never led: the process with its models may still be starting.
    await takeLeases(young, [{ collection, hasModels: false }], 'young', 60_000);
    expect(await hold(young, 'young')).toBeUndefined();
    const first = await take(old, 'old');
    await releaseLeases(old, 'old');
    expect(await hold(young, 'young')).toBeUndefined();
    await runOut('31 seconds');
    const stranger = await take(young, 'young');
    expect(stranger.epoch).toBeGreaterThan(first.epoch);
    expect((await take(old, 'old')).epoch).toBeGreaterThan(stranger.epoch);
    expect(await hold(young, 'young')).toBeUndefined();
  });

  it('counts the collections without a leader: never led, released, or with an expired lease', async () => {
    await one.engine.query('delete from akin.leases');
    const all = (await listCollections(one)).length;
    expect(await countCollectionsWithoutLeader(one)).toBe(all);
    await take(one, 'leading');
    expect(await countCollectionsWithoutLeader(one)).toBe(all - 1);
    await releaseLeases(one, 'leading');
    expect(await countCollectionsWithoutLeader(one)).toBe(all);
    await take(other, 'next');
    await runOut();
    expect(await countCollectionsWithoutLeader(one)).toBe(all);
    expect(await countCollectionsWithoutLeader({ ...one, shared: false })).toBe(0);
  });

  it('refuses a commit without a lease', async () => {
    await expect(commit(one, collection)).rejects.toThrow('needs a lease');
  });

  it('wakes waiting calls in another process', async () => {
    // It waits for as long as a timer can: it ends by the notification, or by the time limit of the test.
    const news = other.events.changed(collection.id, 2 ** 31 - 1);
    await accept(one, collection, [{ id: 'x' }]);
    await news;
  });

  it('ends a transaction that a process of the fleet leaves open, so that others can continue', async () => {
    const hanging = one.engine.transaction(async (tx) => {
      await tx.query('select 1 from akin.collections where id = $1 for update', [collection.id]);
      await other.engine.query('update akin.collections set next_seq = next_seq where id = $1', [collection.id]);
      await tx.query('select 1');
    });
    await expect(hanging).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('lets one process ask another one for a commit, and answers all earlier requests', async () => {
    const lease = await take(other, 'b');
    await accept(one, collection, [{ id: 'x' }]);
    const asking = [requestCommit(one, collection), requestCommit(one, collection)];
    let asked: bigint | undefined;
    while (asked !== 2n) asked = (await requestedCommits(other)).get(collection.id);
    await commit(other, collection, lease);
    await completeCommitRequests(other, collection, asked);
    await Promise.all(asking);
    expect(await visible(one, collection)).toEqual(['x']);
    expect((await requestedCommits(other)).has(collection.id)).toBe(false);
  });
});
