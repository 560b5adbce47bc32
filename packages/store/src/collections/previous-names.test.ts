import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { picture, RULE } from '../../test/groups.ts';
import { RENAMED_TABLES, usePreviousNames, usePreviousSharedNames } from '../../test/previous-names.ts';
import {
  accept,
  ENGINES,
  openTestStore,
  parseTestOutputs,
  TEST_MODULES,
  testLocation,
  visible,
} from '../../test/support.ts';
import { claimForAnalysis, failAnalysis } from '../analyze/analysis.ts';
import { commit } from '../commit/commit.ts';
import { renewLeases, takeLeases } from '../commit/leases.ts';
import { offerShards } from '../commit/shard-leases.ts';
import type { Collection, Store } from '../context.ts';
import { pinCommit } from '../export/pins.ts';
import { decideGroups, listDecisions } from '../groups/decisions.ts';
import { listGroups } from '../groups/list-groups.ts';
import { updateGroups } from '../groups/update-groups.ts';
import { reportRun } from '../runs/runs.ts';
import { openStore } from '../store.ts';
import { collectionStatus, createCollection } from './collections.ts';

describe.each(ENGINES)('tables with the names of the previous version on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);

  it.each([1, 2])('keep what they contain, in a collection of %d shards', async (shards) => {
    await using own = await openOwnStore();
    const collection = await createCollection(own.store, 'shop', { shards });
    await fill(own.store, collection);
    const before = await contentsOf(own.store, collection);
    // A row of the other one would make akin ask for the place of its objects.
    expect(emptyTables(before)).toEqual(['object_store']);
    const groups = await groupsOf(own.store, collection);
    await usePreviousNames(own.store, collection);
    await usePreviousSharedNames(own.store);
    await own.reopen();
    expect(await contentsOf(own.store, collection)).toEqual(before);
    expect(await visible(own.store, collection, 'labels')).toEqual([
      ['a', ['new', 'new']],
      ['b', null],
      ['c', null],
    ]);
    expect((await collectionStatus(own.store, collection)).failures).toEqual({ 'image-unreachable': 1 });
    expect(await groupsOf(own.store, collection)).toEqual(groups);

    await own.store.engine.query('delete from akin.shard_leases');
    await accept(own.store, collection, [{ kind: 'delete', id: 'b' }, picture('d', 0.01)]);
    await commit(own.store, collection);
    await updateGroups(own.store, collection, RULE, { milliseconds: 60_000 });
    expect(await visible(own.store, collection)).toEqual(['a', 'c', 'd']);
  });

  it('get the new ones where the process before ended after the shared tables', async () => {
    await using own = await openOwnStore();
    const [shop, other] = [await createCollection(own.store, 'shop'), await createCollection(own.store, 'other')];
    await fill(own.store, shop);
    const before = await contentsOf(own.store, shop);
    for (const collection of [shop, other]) await usePreviousNames(own.store, collection);
    await own.reopen();
    expect(await contentsOf(own.store, shop)).toEqual(before);
    await fill(own.store, other);
    expect(await visible(own.store, other)).toEqual(['a', 'b', 'c']);
  });

  itOnPostgres('get the new ones where two processes start at once', async () => {
    await using own = await openOwnStore();
    const collection = await createCollection(own.store, 'shop');
    await fill(own.store, collection);
    const before = await contentsOf(own.store, collection);
    await usePreviousNames(own.store, collection);
    await usePreviousSharedNames(own.store);
    await own.store[Symbol.asyncDispose]();
    const settings = { ...own.location, modules: TEST_MODULES, parseOutputs: parseTestOutputs };
    const open = () => openStore({ ...(settings as typeof settings & { databaseUrl: string }), shared: true });
    const [one, another] = await Promise.all([open(), open()]);
    own.store = one;
    await another[Symbol.asyncDispose]();
    expect(await contentsOf(one, collection)).toEqual(before);
  });

  async function openOwnStore() {
    const { location, remove } = await testLocation(kind);
    const opened = {
      location,
      store: await openTestStore(location),
      async reopen() {
        await opened.store[Symbol.asyncDispose]();
        opened.store = await openTestStore(location);
      },
      async [Symbol.asyncDispose]() {
        await opened.store[Symbol.asyncDispose]();
        await remove();
      },
    };
    return opened;
  }
});

/** Puts rows into the tables of a collection and those of all. */
async function fill(store: Store, collection: Collection): Promise<void> {
  await accept(store, collection, [picture('a', 0), picture('b', 0.02), picture('c', 0.04)]);
  await commit(store, collection);
  await accept(store, collection, [picture('a', 0, { labels: ['new', 'new'] })], { tombstones: false });
  await commit(store, collection);
  await updateGroups(store, collection, RULE, { milliseconds: 60_000 });
  await decideGroups(store, collection, ['b', 'c'], 'different');
  await accept(store, collection, [{ id: 'x', image: 'http://127.0.0.1:9/x.jpg' }]);
  for (let tasks = await claimForAnalysis(store, 10); tasks.length > 0; tasks = await claimForAnalysis(store, 10)) {
    for (const task of tasks) await failAnalysis(store, task, { code: 'image-unreachable', msg: 'no answer' });
    await store.engine.query(
      `update ${collection.sqlSchema}.operations set available_at = now() - interval '1 second'`,
    );
  }
  // The delete skips the id of the update, which waits for its analysis.
  await accept(store, collection, [{ id: 'c', image: { set: 'http://127.0.0.1:9/c.jpg' } }]);
  await accept(store, collection, [{ kind: 'delete-by-query', query: 'labels:nothing' }]);
  await commit(store, collection);
  await store.engine.query(
    `insert into ${collection.sqlSchema}.field_uses ("column", kind, values_too_long) values ('id', 'rising', true)`,
  );
  await renewLeases(store, 'holder', 60_000);
  await takeLeases(store, [{ collection, hasModels: true }], 'holder', 60_000);
  await pinCommit(store, collection);
  await store.engine.query('insert into akin.commit_requests (collection, requested, completed) values ($1, 5, 4)', [
    collection.id,
  ]);
  await store.engine.transaction((tx) => offerShards(tx, collection, 7n));
  await store.engine.query(
    `insert into akin.reindexes (name, state, holder, heartbeat_at) values ($1, 'done', 'holder', '2020-01-01')`,
    [collection.name],
  );
  await store.engine.query(`insert into akin.search_times (process) values ($1)`, [collection.name]);
  const report = {
    source: '/photos',
    state: 'running' as const,
    total: 3,
    done: 1,
    unchanged: 0,
    failed: 0,
    secondsLeft: null,
  };
  await reportRun(store, collection, 'run', report, []);
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly indexes: readonly string[];
  readonly constraints: readonly string[];
  /** As JSON. */
  readonly rows: string;
}

/** All tables with their names and rows, apart from numbers of versions. */
async function contentsOf({ engine }: Store, { sqlSchema }: Collection): Promise<Table[]> {
  const tables = await engine.query<Omit<Table, 'rows'>>(
    `select n.nspname || '.' || c.relname as name,
            array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 order by attnum) as columns,
            array(select indexrelid::regclass::text from pg_index where indrelid = c.oid order by 1) as indexes,
            array(select conname::text from pg_constraint where conrelid = c.oid order by 1) as constraints
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('akin', $1) and c.relkind in ('r', 'p') order by 1`,
    [sqlSchema],
  );
  const contents: Table[] = [];
  for (const table of tables) {
    const [found] = await engine.query<{ rows: string }>(
      `select coalesce(jsonb_agg(r order by r::text), '[]')::text as rows
         from (select to_jsonb(t) - '{schema_version,applied_at}'::text[] as r from ${table.name} t) t`,
    );
    contents.push({ ...table, rows: found?.rows ?? '' });
  }
  return contents;
}

/** Tables with new names, or with columns that have some, but without a row. */
function emptyTables(contents: readonly Table[]): string[] {
  const empty = contents.filter(({ rows }) => rows === '[]').map(({ name }) => name.replace(/.*\./, ''));
  return empty.filter((name) => RENAMED_TABLES.has(name));
}

async function groupsOf(store: Store, collection: Collection): Promise<unknown> {
  const { groups } = await listGroups(store, collection, { rows: 10, members: 10 });
  return [groups, await listDecisions(store, collection, { limit: 10 })];
}
