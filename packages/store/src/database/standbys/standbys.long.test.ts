import { parseQuery } from '@akin/domain';
import { openProxy, type ReplicatedPostgres, replicatedPostgres, testDatabase } from '@akin/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accept, TEST_STORE, testOutputs } from '../../../test/support.ts';
import { commitOfStandby } from '../../changes/accept/operations.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { getDocuments } from '../../search/read.ts';
import { search } from '../../search/search.ts';
import { type Snapshot, withSnapshot } from '../../search/snapshot.ts';
import { openStore } from '../../store.ts';
import { createCollection } from '../collections/collections.ts';
import type { Collection } from '../context.ts';
import { type DatabaseIdentity, IDENTITY_COLUMNS, Standby, type StandbyResult } from './standby.ts';
import { Standbys } from './standbys.ts';

/** Cancels what is in the way of replaying the log at once. */
const SETTINGS = { max_standby_streaming_delay: '0', hot_standby_feedback: 'off' };

let servers: ReplicatedPostgres;
beforeAll(async () => {
  servers = await replicatedPostgres(2, SETTINGS);
  await servers.primary.run('create database others template template0');
});
afterAll(async () => servers?.[Symbol.asyncDispose]());

const standbyOf = () => servers.standbys[0] as ReplicatedPostgres['standbys'][number];

describe('searches with a standby', () => {
  let store: Store;
  let collection: Collection;
  let results: StandbyResult[];
  let n = 0;

  /** The same store with other standbys. */
  const withStandbys = (url: string, milliseconds = 30_000): Store & AsyncDisposable => {
    const standbys = new Standbys(store.engine, { urls: [url], name: 'akin', milliseconds });
    return {
      ...store,
      standbys,
      searchMilliseconds: milliseconds,
      [Symbol.asyncDispose]: () => standbys[Symbol.asyncDispose](),
    };
  };
  const add = async (...ids: readonly string[]) => {
    const made = ids.map((id, i) => ({ id, n: i, import: testOutputs({ shape: [1, 0, 0, 0] }) }));
    const range = await accept(store, collection, made);
    await commit(store, collection);
    return range;
  };
  const find = async (question: { atLeast?: bigint; sort?: [{ name: string; direction: 'asc' }] } = {}) => {
    const found = await search(store, collection, { query: parseQuery('*:*'), rows: 10, ...question });
    return found.hits.map(({ id }) => id).sort();
  };
  const status = () => store.standbys.statuses[0];
  /** Looks until the standby is as wanted. */
  const until = async (state: string) => {
    while (status()?.state !== state) await store.standbys.check();
  };

  beforeEach(async () => {
    results = [];
    store = await openStore({
      databaseUrl: servers.primary.url,
      standbyUrls: [standbyOf().url],
      ...TEST_STORE,
      indexedFrom: 0,
    });
    store.standbys.listen((_name, result) => results.push(result));
    collection = await createCollection(store, `c${n++}`);
    await add('a', 'b');
    await standbyOf().catchUp();
    await until('used');
  });
  afterEach(async () => store[Symbol.asyncDispose]());

  it('come from it at the commit of the primary: documents, what is ranked, and what is held in memory for that', async () => {
    expect(await find()).toEqual(['a', 'b']);
    expect(results).toEqual(['answered']);
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    const ranked = await search(store, collection, { query: parseQuery('*:*'), rows: 10, rank });
    expect(ranked).toMatchObject({ numFound: 2, ranking: { inMemory: true } });
    await add('c');
    await standbyOf().catchUp();
    const grown = await search(store, collection, { query: parseQuery('*:*'), rows: 10, rank });
    expect(grown).toMatchObject({ numFound: 3, ranking: { inMemory: true } });
    expect((await getDocuments(store, collection, ['c', 'd'], ['n'])).documents.get('c')?.get('n')).toBe(0n);
    expect(new Set(results)).toEqual(new Set(['answered']));
  });

  it('write down on the primary what they use', async () => {
    await find({ sort: [{ name: 'n', direction: 'asc' }] });
    expect(results).toEqual(['answered']);
    const uses = await store.engine.query(`select kind from ${collection.sqlSchema}.field_uses`);
    expect(uses).toEqual([{ kind: 'rising' }]);
  });

  it('are not asked twice when the standby refuses what they ask for', async () => {
    await expect(find({ sort: [{ name: 'missing', direction: 'asc' }] })).rejects.toMatchObject({
      code: 'bad-request',
    });
    expect(results).toEqual(['answered']);
  });

  it('see what is new, when the standby is behind, and come from it again when it is not', async () => {
    await standbyOf().pause();
    try {
      const seen = await add('c');
      expect(await find()).toEqual(['a', 'b', 'c']);
      expect(results).toEqual(['behind']);
      // A new field is not seen there either.
      await accept(store, collection, [{ id: 'd', size: 1 }]);
      expect(await find()).toEqual(['a', 'b', 'c']);
      expect(await commitOfStandby(store, collection, seen)).toBeUndefined();
    } finally {
      await standbyOf().resume();
    }
    await standbyOf().catchUp();
    while (results.at(-1) !== 'answered') expect(await find()).toEqual(['a', 'b', 'c']);
  });

  it('come from a standby that is behind where it has what they ask for', async () => {
    const range = await add('c');
    await standbyOf().catchUp();
    const atLeast = await commitOfStandby(store, collection, range);
    expect(atLeast).toBe(2n);
    await standbyOf().pause();
    try {
      await add('d');
      results = [];
      expect(await find({ atLeast: 2n })).toEqual(['a', 'b', 'c']);
      expect((await getDocuments(store, collection, ['d'], ['id'], 2n)).documents).toEqual(new Map());
      expect(results).toEqual(['answered', 'answered']);
      expect(await find({ atLeast: 3n })).toEqual(['a', 'b', 'c', 'd']);
      await expect(find({ atLeast: 4n })).rejects.toMatchObject({ code: 'unavailable' });
      const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
      const ranked = await search(store, collection, { query: parseQuery('*:*'), rows: 10, rank, atLeast: 2n });
      expect(ranked.ranking).toMatchObject({ inMemory: true });
    } finally {
      await standbyOf().resume();
    }
  });

  it('never come from another history, in which the same commits have other changes', async () => {
    const range = await add('c');
    await standbyOf().catchUp();
    expect(await commitOfStandby(store, collection, range)).toBe(2n);
    const S = collection.sqlSchema;
    await standbyOf().pause();
    try {
      // As if this primary were another one, which made its second commit later.
      await store.engine.query(
        `update ${S}.commits set committed_at = committed_at + interval '1 second' where number = 2`,
      );
      // Asked when this primary was not one yet.
      expect(await commitOfStandby(store, collection, range)).toBe(2n);
      store.standbys.timelineChanged();
      results = [];
      expect(await commitOfStandby(store, collection, range)).toBeUndefined();
      await find({ atLeast: 2n });
      expect(results).not.toContain('answered');
    } finally {
      await standbyOf().resume();
    }
  });

  it('never see less than what was committed before they began, while it is replayed', async () => {
    for (let i = 0; i < 20; i++) {
      await add(`x${i}`);
      const counts = await Promise.all(
        Array.from({ length: 4 }, () => search(store, collection, { query: parseQuery('*:*'), rows: 0 })),
      );
      expect(counts.map(({ numFound }) => numFound)).toEqual(Array(4).fill(i + 3));
    }
  });

  it('are asked of the primary when the standby cancels them for what it replays', async () => {
    await store.engine.query('create table torn (n int); insert into torn select generate_series(1, 1000)');
    await standbyOf().catchUp();
    let asked = 0;
    const work = async ({ tx, commit: shown }: Snapshot) => {
      if (asked++ > 0) return shown;
      const long = tx.query('select pg_sleep(600)');
      await store.engine.query('delete from torn');
      await store.engine.query('vacuum torn');
      await long;
      return shown;
    };
    expect(await withSnapshot(store, collection, work, { isCurrent: true })).toBe(1n);
    expect([asked, results, status()?.state]).toEqual([2, ['cancelled'], 'used']);
    await store.engine.query('drop table torn');
  });

  it('are not asked twice when they take too long', async () => {
    await using impatient = withStandbys(standbyOf().url, 2_000);
    await impatient.standbys.check();
    let asked = 0;
    const work = async ({ tx }: Snapshot) => {
      asked++;
      await tx.query('select pg_sleep(600)');
    };
    await expect(withSnapshot(impatient, collection, work, { isCurrent: true })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('longer than 2 seconds'),
    });
    expect(asked).toBe(1);
  });

  it('come from the primary while the standby is dead, and from it again when it is back', async () => {
    await standbyOf().kill();
    expect(await find()).toEqual(['a', 'b']);
    expect(results).toEqual(['failed']);
    await until('away');
    expect(await find()).toEqual(['a', 'b']);
    expect(results).toEqual(['failed']);
    await standbyOf().start();
    await until('used');
    await standbyOf().catchUp();
    expect(await find()).toEqual(['a', 'b']);
    expect(results).toEqual(['failed', 'answered']);
  });

  it('break off and come from the primary when the standby hangs in the middle', async () => {
    await using proxy = await openProxy(standbyOf().url);
    await using far = withStandbys(proxy.url);
    while (far.standbys.statuses[0]?.state !== 'used') await far.standbys.check();
    let asked = 0;
    const work = async ({ tx, commit: shown }: Snapshot) => {
      if (asked++ === 0) {
        proxy.stall();
        await tx.query('select 1');
      }
      return shown;
    };
    expect(await withSnapshot(far, collection, work, { isCurrent: true })).toBe(1n);
    expect(asked).toBe(2);
    expect(far.standbys.statuses[0]).toMatchObject({ state: 'away' });
  });

  it('tell how far the standby is', async () => {
    expect(await store.standbys.lags()).toEqual([
      { name: `${new URL(standbyOf().url).host}/postgres`, state: 'used', lagBytes: expect.any(Number) },
    ]);
    await standbyOf().pause();
    await add('c');
    const [lag] = await store.standbys.lags();
    expect(lag?.lagBytes).toBeGreaterThan(0);
    await standbyOf().resume();
  });

  it('tell once that the standby stays behind, and when it has caught up', async () => {
    const said: string[] = [];
    const [identity] = await store.engine.query(`select ${IDENTITY_COLUMNS} from pg_control_system()`);
    await using standby = new Standby(standbyOf().url, {
      name: 'akin',
      milliseconds: 1_000,
      identity: async () => identity as unknown as DatabaseIdentity,
      changed: ({ state }) => said.push(state),
    });
    await standby.check();
    for (let i = 0; i < 30; i++) standby.recordBehind(Number.POSITIVE_INFINITY);
    expect(said).toEqual(['used', 'behind']);
    standby.recordCurrent();
    expect(said).toEqual(['used', 'behind', 'used']);
  });

  it('never come from a server that is no standby of the primary', async () => {
    const other = await testDatabase();
    await store.engine.query('create database another');
    await standbyOf().catchUp();
    const wrong = [
      [other.url, 'another database system'],
      [standbyOf().url.replace(/[^/]+$/, 'another'), 'names another database'],
      [servers.primary.url, 'no standby'],
    ] as const;
    for (const [url, reason] of wrong) {
      await using alone = withStandbys(url);
      await alone.standbys.check();
      expect(alone.standbys.statuses).toMatchObject([{ state: 'away', reason: expect.stringContaining(reason) }]);
      expect((await search(alone, collection, { query: parseQuery('*:*'), rows: 10 })).numFound).toBe(2);
    }
    await other.drop();
  });

  it('are refused an address that cannot be read', () => {
    expect(() => withStandbys('postgres://a:b@c:99999999/x')).toThrow(expect.objectContaining({ code: 'bad-request' }));
  });

  // The last one: afterwards it is not a standby.
  it('come from the primary alone when a standby was promoted, and when one was left with the earlier primary', async () => {
    // A search that began before sees the commit that it began with.
    const work = async ({ tx, commit: shown }: Snapshot) => {
      await standbyOf().promote();
      const [row] = await tx.query(`select count(*)::int as count from ${collection.sqlSchema}.documents`);
      return [shown, row?.count];
    };
    expect(await withSnapshot(store, collection, work, { isCurrent: true })).toEqual([1n, 2]);
    expect(results).toEqual(['answered']);
    results = [];
    await standbyOf().run(`update akin.collections set commit = commit + 5`);
    expect(await find()).toEqual(['a', 'b']);
    expect(await find({ atLeast: 1n })).toEqual(['a', 'b']);
    await until('away');
    expect(status()?.reason).toMatch(/no standby/);
    await add('c');
    expect(await find()).toEqual(['a', 'b', 'c']);
    expect(results).not.toContain('answered');

    // A process that starts later, with the new primary and a standby that was left with the old one.
    const left = servers.standbys[1] as ReplicatedPostgres['standbys'][number];
    await left.catchUp();
    await standbyOf().run('update akin.collections set commit = commit - 5');
    await using later = await openStore({
      databaseUrl: standbyOf().url,
      standbyUrls: [left.url],
      ...TEST_STORE,
    });
    const told: StandbyResult[] = [];
    later.standbys.listen((_name, result) => told.push(result));
    const range = await accept(later, collection, [{ id: 'new' }]);
    await commit(later, collection);
    while (later.standbys.statuses[0]?.state !== 'used') await later.standbys.check();
    expect(await commitOfStandby(later, collection, range)).toBeUndefined();
    const { hits } = await search(later, collection, { query: parseQuery('*:*'), rows: 10, atLeast: 2n });
    expect(hits.map(({ id }) => id).sort()).toEqual(['a', 'b', 'new']);
    expect(told).not.toContain('answered');
  });
});
