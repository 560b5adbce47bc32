import { AkinError, createRandom } from '@akin/domain';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { statementsOf } from '../../../test/sent-statements.ts';
import { accept, TEST_STORE, visible } from '../../../test/support.ts';
import { collectionStatus, createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import type { Engine } from '../../database/engine/engine.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { openStore } from '../../store.ts';
import type { Store } from '../context.ts';
import { helpCommits } from './apply-shards.ts';
import { commit } from './commit.ts';
import { FairSemaphore } from './fair-semaphore.ts';
import { type Lease, takeLeases } from './leases.ts';

const SHARDS = 4;
const COUNT = 40;
const ROUNDS = 8;
/** Shards of a commit wait for each other too. */
const WAITING_DROP =
  "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from akin.shard_leases%'";

describe('shards of a collection that several processes apply', () => {
  let database: TestDatabase;
  let stores: Store[];
  let collection: Collection;
  let created = 0;
  let holders = 0;

  beforeAll(async () => {
    database = await testDatabase();
    const config = {
      shared: true,
      ...TEST_STORE,
      shardsFrom: 0,
    };
    const open = () => openStore({ ...config, databaseUrl: database.url, graceMilliseconds: 0 });
    stores = [await open(), await open(), await open()];
  });
  afterAll(async () => {
    for (const store of stores ?? []) await store[Symbol.asyncDispose]();
    await database?.drop();
  });
  beforeEach(async () => {
    collection = await createCollection(storeOf(0), `collection-${created++}`, { shards: SHARDS });
    await storeOf(0).engine.query('delete from akin.lease_holders');
  });

  const storeOf = (i: number): Store => {
    const store = stores[i];
    if (store === undefined) throw new Error(`no store ${i}`);
    return store;
  };
  const sql = (text: string) => storeOf(0).engine.query(text, [collection.id]);
  /** Makes a process the leader, even if there was another one. */
  const lead = async (store: Store): Promise<Lease> => {
    await sql(`update akin.leases set expires_at = now() - interval '1 second' where collection = $1`);
    const taken = await takeLeases(store, [{ collection, hasModels: true }], `process ${holders++}`, 600_000);
    const lease = taken.get(collection.id);
    if (lease === undefined) throw new Error('not to be had');
    return lease;
  };
  const numbered = (n: number) => Array.from({ length: COUNT }, (_, i) => ({ id: `d${i}`, n }));
  const shown = async () => {
    const rows = (await visible(storeOf(0), collection, 'n')) as [string, bigint][];
    return { count: rows.length, values: [...new Set(rows.map(([, n]) => Number(n)))] };
  };
  /** As time does with shards, whether a process works on them or not. */
  const runOut = async () => {
    // One by one: a statement over several would wait while it locks some of them, which akin does only with its lease.
    for (let shard = 0; shard < SHARDS; shard++) {
      await sql(`update akin.shard_leases set expires_at = '-infinity' where collection = $1 and shard = ${shard}`);
    }
  };
  /** Whether some process took it, even if it is so slow that its lease has run out. */
  const shardLeases = async () => {
    const rows = await sql(
      'select shard, claim is not null as taken from akin.shard_leases where collection = $1 order by 1',
    );
    return rows.map(({ shard, taken }) => [shard, taken]);
  };
  /** Commits by the first process, which is blocked in shard 0. The other shards are left to others. */
  async function holdLeader(meanwhile: () => Promise<void>): Promise<unknown> {
    const lease = await lead(storeOf(0));
    // As three living processes renew them.
    for (const name of ['a', 'b', 'c', 'd']) {
      await storeOf(0).engine.query(`insert into akin.lease_holders values ($1, now() + interval '1 hour')`, [name]);
    }
    let committing: Promise<unknown> | undefined;
    await storeOf(1).engine.transaction(async (tx) => {
      await tx.query('set local idle_in_transaction_session_timeout = 0');
      await tx.query(`select from ${collection.sqlSchema}.documents where doc < 2^40 for update`);
      committing = commit(storeOf(0), collection, lease);
      committing.catch(() => undefined);
      while (!(await shardLeases()).some(([, taken]) => taken));
      await meanwhile();
    });
    return committing;
  }

  it('are applied by helpers, and visible when all are done', async () => {
    await accept(storeOf(0), collection, numbered(1));
    await commit(storeOf(0), collection, await lead(storeOf(0)));
    await accept(storeOf(0), collection, numbered(2));
    await holdLeader(async () => {
      expect(await helpCommits(storeOf(2))).toEqual([{ collection: collection.name, shards: 3, failed: 0 }]);
      expect(await shardLeases()).toEqual([[0, true]]);
      expect(await shown()).toEqual({ count: COUNT, values: [1] });
      expect(await helpCommits(storeOf(2))).toEqual([]);
    });
    expect(await shown()).toEqual({ count: COUNT, values: [2] });
    expect(await shardLeases()).toEqual([]);
    expect(await collectionStatus(storeOf(0), collection)).toMatchObject({ documents: COUNT, commit: 2, pending: 0 });
  });

  it('are read one by one: for its documents a shard needs only its own partition', async () => {
    await accept(storeOf(0), collection, numbered(1));
    const lease = await lead(storeOf(0));
    const sent = await statementsOf(() => commit(storeOf(0), collection, lease));
    const lookups = new Set(sent.flatMap(({ sql }) => /from \S+\.(documents\S*) where id = any/.exec(sql)?.[1] ?? []));
    expect([...lookups].sort()).toEqual(['documents_s0', 'documents_s1', 'documents_s2', 'documents_s3']);
    expect(await shown()).toEqual({ count: COUNT, values: [1] });
  });

  it('are waited for, taken over from a process without progress, whose later writes are refused', async () => {
    await accept(storeOf(0), collection, numbered(1));
    await commit(storeOf(0), collection, await lead(storeOf(0)));
    await accept(storeOf(0), collection, numbered(2));
    let goOn = () => {};
    let began = () => {};
    const holding = new Promise<void>((resolve) => {
      began = resolve;
    });
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { engine } = storeOf(2);
    let transactions = 0;
    const slow: Store = {
      ...storeOf(2),
      engine: {
        ...engine,
        transaction: async (run, options) => {
          // The first process reads ready operations, the second one would apply them.
          if (++transactions === 2) {
            began();
            await held;
          }
          return engine.transaction(run, options);
        },
      },
    };
    let helping: Promise<unknown> | undefined;
    const committing = holdLeader(async () => {
      helping = helpCommits({ ...slow, commitSemaphore: new FairSemaphore(() => 1) });
      await holding;
      // It does not run out before the test says so. The leader holds the row of the first one.
      await sql(
        "update akin.shard_leases set expires_at = 'infinity' where collection = $1 and shard > 0 and claim is not null",
      );
    });
    await holding;
    // All but the shard of the other process.
    while ((await shardLeases()).length > 1);
    expect(await shown()).toEqual({ count: COUNT, values: [1] });
    await runOut();
    await committing;
    expect(await shown()).toEqual({ count: COUNT, values: [2] });
    goOn();
    // It ends without an error, because nothing is wrong.
    await helping;
    expect(await shown()).toEqual({ count: COUNT, values: [2] });
    expect(await collectionStatus(storeOf(0), collection)).toMatchObject({ documents: COUNT, commit: 2, pending: 0 });
    expect(await sql('select unpublished_operations::int as count from akin.collections where id = $1')).toEqual([
      { count: 0 },
    ]);
  });

  it('are not applied by a process with other models, or without a free slot', async () => {
    const ours = { ...TEST_STORE, shared: true, databaseUrl: database.url };
    await using own = await openStore({ ...ours, models: new Map([['shape', 'a-1']]) });
    await using other = await openStore({ ...ours, models: new Map([['shape', 'b-1']]) });
    collection = await createCollection(own, 'of-a-1', { shards: SHARDS });
    await storeOf(0).engine.query('insert into akin.shard_leases (collection, shard, end_seq) values ($1, 0, 1)', [
      collection.id,
    ]);
    expect(await helpCommits(other)).toEqual([]);
    expect(await helpCommits({ ...own, commitSemaphore: new FairSemaphore(() => 0) })).toEqual([]);
    expect(await helpCommits(own)).toEqual([{ collection: 'of-a-1', shards: 1, failed: 0 }]);
  });

  it('end with their collection, which waits for work in progress', async () => {
    await accept(storeOf(0), collection, numbered(1));
    let dropping: Promise<void> | undefined;
    const { engine } = storeOf(0);
    const transaction: Engine['transaction'] = (run, options) =>
      engine.transaction((tx, first) => {
        const query: typeof tx.query = async (text, params) => {
          if (dropping === undefined && text.includes('update akin.collections set unpublished_documents')) {
            await tx.query('set local idle_in_transaction_session_timeout = 0');
            dropping = dropCollection(storeOf(1), collection);
            while ((await storeOf(2).engine.query(WAITING_DROP)).length === 0);
          }
          return tx.query(text, params);
        };
        return run({ ...tx, query }, first);
      }, options);
    const store = { ...storeOf(0), engine: { ...engine, transaction } };
    await expect(commit(store, collection, await lead(store))).rejects.toMatchObject({ code: 'not-found' });
    await dropping;
    expect(await shardLeases()).toEqual([]);
  });

  it('behave like a map in any sequence of changes, with kills between any two steps', async () => {
    const random = createRandom(34);
    const below = (most: number) => Math.floor(random() * most);
    const accepted = new Map<string, number>();
    /** The visible documents of each commit. */
    const commits = new Map<bigint, string>([[0n, '']]);
    let last = 0n;

    const change = (): object => {
      const [id, n, kind] = [`id ${below(30)}`, below(9), below(20)];
      if (kind < 12) {
        accepted.set(id, n);
        return { id, n };
      }
      if (kind < 15) {
        accepted.set(id, n);
        return { id, n: { set: n } };
      }
      if (kind < 18) {
        accepted.delete(id);
        return { kind: 'delete', id };
      }
      for (const [other, value] of accepted) if (value <= n - 5 || value === n) accepted.delete(other);
      return { kind: 'delete-by-query', query: `n:[* TO ${n - 5}] OR n:${n}` };
    };
    /** A commit is visible as a whole, and nothing of another one. */
    const look = async () => {
      const [row] = await sql(
        `select commit, (select string_agg(id || '=' || n, ',' order by id) from ${collection.sqlSchema}.live_documents) as shown
           from akin.collections where id = $1`,
      );
      expect({ commit: row?.commit, shown: row?.shown ?? '' }).toEqual({
        commit: row?.commit,
        shown: commits.get(row?.commit),
      });
      last = row?.commit;
    };

    let kills = 0;
    let helped = 0;
    await accept(storeOf(0), collection, [{ id: 'id 0', n: 0 }]);
    accepted.set('id 0', 0);
    for (let round = 0; round < ROUNDS; round++) {
      await accept(storeOf(0), collection, Array.from({ length: 10 + below(60) }, change));
      const state = [...accepted].sort(([a], [b]) => (a < b ? -1 : 1));
      commits.set(last + 1n, state.map(([id, n]) => `${id}=${n}`).join(','));
      let isDone = false;
      const looking = (async () => {
        while (!isDone) {
          await look();
          if (below(4) === 0) await runOut();
        }
      })();
      const helping = [1, 2].map(async (i) => {
        let process = mortal(storeOf(i), 5 + below(120));
        while (!isDone) {
          try {
            for (const { shards } of await helpCommits(process)) helped += shards;
          } catch (error) {
            requireKilled(error);
            kills++;
            process = mortal(storeOf(i), 5 + below(120));
            await runOut();
          }
        }
      });
      try {
        for (let attempt = 0; !isDone; attempt++) {
          const process = mortal(storeOf(attempt % 3), attempt < 3 ? 5 + below(200) : Number.POSITIVE_INFINITY);
          try {
            await commit(process, collection, await lead(storeOf(0)));
            isDone = true;
          } catch (error) {
            requireKilled(error);
            kills++;
          }
        }
      } finally {
        isDone = true;
        await Promise.all([looking, ...helping]);
      }
      await look();
      expect(await collectionStatus(storeOf(0), collection)).toMatchObject({ documents: accepted.size, pending: 0 });
    }
    expect(last).toBeGreaterThan(ROUNDS / 2);
    expect(Math.min(kills, helped)).toBeGreaterThan(ROUNDS);
    expect(await shardLeases()).toEqual([]);
  });
});

/** A process that makes this many steps and then stops: its work stays as it is. */
function mortal(store: Store, steps: number): Store {
  let left = steps;
  const step = () => {
    if (left-- <= 0) throw new AkinError('unavailable', 'killed');
  };
  const { engine } = store;
  const wrapped: Engine = {
    ...engine,
    query: async (...args) => {
      step();
      const rows = await engine.query(...args);
      step();
      return rows as never;
    },
    transaction: async (run, options) => {
      step();
      const result = await engine.transaction((tx, first) => {
        const query: typeof tx.query = (...args) => {
          step();
          return tx.query(...args);
        };
        return run({ ...tx, query }, first);
      }, options);
      step();
      return result;
    },
  };
  return { ...store, engine: wrapped, commits: new Map(), commitSemaphore: new FairSemaphore(() => 4) };
}

/** Only a kill, or a lost lease, may cause an error. */
function requireKilled(error: unknown): void {
  if (error instanceof AkinError && (error.message === 'killed' || error.code === 'conflict')) return;
  throw error;
}
