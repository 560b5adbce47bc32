import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runOn } from '../../test/run-on.ts';
import { accept, parseTestOutputs, TEST_MODULES, testOutputs, visible } from '../../test/support.ts';
import { maintain } from '../bulk/maintain.ts';
import { collectionStatus, createCollection, findCollection } from '../collections/collections.ts';
import type { Collection, Store } from '../context.ts';
import { openStore } from '../store.ts';
import { commit } from './commit.ts';
import { renewLeases, takeLeases } from './leases.ts';

/*
 * The main server as it was before a commit, with another server that has all or parts of that commit: the result of a
 * crash between the ends of a transaction on both, or of a promotion of a lagging standby of the main server.
 */

describe('a commit over several servers', () => {
  let databases: TestDatabase[];
  let copies: string[];

  beforeEach(async () => {
    databases = [await testDatabase(), await testDatabase(), await testDatabase()];
    copies = [];
  });
  afterEach(async () => {
    const [main] = databases;
    for (const name of copies) await main?.run(`drop database if exists ${name} with (force)`);
    for (const database of databases) await database.drop();
  });

  const open = (databaseUrl: string, settings: object = {}) => {
    const [, b, c] = databases as [TestDatabase, TestDatabase, TestDatabase];
    const shardServers = new Map([
      ['b', b.url],
      ['c', c.url],
    ]);
    return openStore({
      ...{ databaseUrl, shardServers, modules: TEST_MODULES, parseOutputs: parseTestOutputs, graceMilliseconds: 0 },
      ...settings,
    });
  };
  const main = () => (databases[0] as TestDatabase).url;
  /** The main database in its present state. */
  const copy = async () => {
    const url = new URL(main());
    const name = `${url.pathname.slice(1)}_${copies.length}`;
    const admin = new URL(url);
    admin.pathname = '/template1';
    copies.push(name);
    await runOn(admin.href, `create database ${name} template ${url.pathname.slice(1)}`);
    url.pathname = `/${name}`;
    return url.href;
  };
  const shelf = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({
      ...{ id: `document ${from + i}`, shelf: (from + i) % 4, import: testOutputs({ shape: [1, i, 0, 0] }) },
      ...{ source: '/pictures', modified: '2026-01-01T00:00:00Z', bytes: 5 },
    }));
  const create = async (store: Store) => {
    const collection = await createCollection(store, 'spread', { shards: 4, shardServers: ['main', 'b', 'c'] });
    await accept(store, collection, shelf(40));
    await commit(store, collection);
    await accept(store, collection, [...shelf(10), ...shelf(20, 100), { kind: 'delete', id: 'document 11' }]);
    await accept(store, collection, [{ kind: 'delete-by-query', query: 'shelf:2' }, ...shelf(4, 200)]);
    await accept(store, collection, [...shelf(2), { kind: 'delete', id: 'document 201' }]);
    return collection;
  };
  /** Everything that shows whether something is duplicated or missing. */
  const stateOf = async (store: Store, collection: Collection) => {
    const S = collection.sqlSchema;
    const [row] = await store.engine.query(
      `select (select json_agg(t.id order by id) from ${S}.tombstones t)::text as tombstones,
              (select json_agg(r order by module) from (select module, documents, unpublished from ${S}.descriptor_counts) r)::text as descriptors,
              (select count(*) from ${S}.documents where valid_to > 0) as rows,
              (select count(*) from ${S}.documents d join ${S}.descriptors_shape v using (doc) where valid_to > 0) as described,
              (select json_agg(o.state order by request, position) from ${S}.operations o)::text as operations`,
    );
    return [await visible(store, collection), (await collectionStatus(store, collection)).documents, row];
  };

  it('is repeated if other servers are ahead of the main one', async () => {
    let store = await open(main());
    await create(store);
    await store[Symbol.asyncDispose]();
    const before = await copy();

    store = await open(main());
    let collection = await findCollection(store, 'spread');
    await commit(store, collection);
    const expected = await stateOf(store, collection);
    await store[Symbol.asyncDispose]();

    store = await open(before);
    collection = await findCollection(store, 'spread');
    const marks = () =>
      store.engine.query(`select count(*)::int as n from ${collection.sqlSchema}.documents where inserted_chunk > 1`);
    expect((await marks())[0]?.n).toBeGreaterThan(10);
    // Nothing of it is visible too early.
    expect(await visible(store, collection)).toEqual(
      shelf(40)
        .map(({ id }) => id)
        .sort(),
    );
    expect(await commit(store, collection)).toMatchObject({ commit: 2, failed: 0 });
    expect(await stateOf(store, collection)).toEqual(expected);
    await maintain(store, [collection]);
    const [left] = await store.engine.query(`select count(*)::int as n from ${collection.sqlSchema}.documents`);
    expect(left?.n).toBe((expected[0] as string[]).length);
    await store[Symbol.asyncDispose]();
  });

  it.each(['b', 'c'])('is repeated if %s cannot end a transaction that others have ended', async (name) => {
    await using store = await open(main());
    const collection = await create(store);
    const url = (databases[name === 'b' ? 1 : 2] as TestDatabase).url;
    const shard = name === 'b' ? 1 : 2;
    await runOn(
      url,
      `create function refuse() returns trigger language plpgsql as
         'begin raise exception using errcode = ''53100'', message = ''full''; end';
       create constraint trigger refuse after insert or update on ${collection.sqlSchema}.documents_s${shard}
         deferrable initially deferred for each row execute function refuse()`,
    );
    await expect(commit(store, collection)).rejects.toMatchObject({ code: 'unavailable' });
    await runOn(url, `drop trigger refuse on ${collection.sqlSchema}.documents_s${shard}`);
    expect(await visible(store, collection)).toHaveLength(40);
    expect(await commit(store, collection)).toMatchObject({ commit: 2, failed: 0 });
    const twice = await store.engine.query(
      `select id from ${collection.sqlSchema}.documents where valid_to > 2 group by id having count(*) > 1`,
    );
    expect(twice).toEqual([]);
    const [, documents] = await stateOf(store, collection);
    expect(await visible(store, collection)).toHaveLength(documents as number);
    expect(documents).toBe(47);
  });

  it('is refused to a process that lost its lease, on all servers', async () => {
    await using store = await open(main(), { shared: true });
    const collection = await createCollection(store, 'led', { shards: 4, shardServers: ['main', 'b', 'c'] });
    await renewLeases(store, 'first', 1);
    const wanted = [{ collection, hasModels: true }];
    const lost = (await takeLeases(store, wanted, 'first', 1)).get(collection.id);
    await accept(store, collection, shelf(20));
    let lease = lost;
    while (lease === undefined || lease === lost) {
      lease = (await takeLeases(store, wanted, 'second', 60_000)).get(collection.id);
    }
    await expect(commit(store, collection, lost)).rejects.toMatchObject({ code: 'conflict' });
    const [row] = await store.engine.query(`select count(*)::int as n from ${collection.sqlSchema}.documents`);
    expect(row).toEqual({ n: 0 });
    expect(await commit(store, collection, lease)).toMatchObject({ applied: 20 });
    expect(await visible(store, collection)).toHaveLength(20);
  });

  it('is refused if another server has lost changes that the main one has', async () => {
    await using store = await open(main());
    const collection = await create(store);
    await runOn((databases[1] as TestDatabase).url, `update ${collection.sqlSchema}.chunk_s1 set chunk = 0`);
    await expect(commit(store, collection)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('shard server b lacks changes'),
    });
  });
});
