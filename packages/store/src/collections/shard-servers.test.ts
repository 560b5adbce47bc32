import { randomUUID } from 'node:crypto';
import { parseQuery } from '@akin/domain';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { usePreviousNames } from '../../test/previous-names.ts';
import { accept, parseTestOutputs, TEST_MODULES, testOutputs, visible } from '../../test/support.ts';
import { setQuota } from '../accept/quota.ts';
import { maintain } from '../bulk/maintain.ts';
import { commit } from '../commit/commit.ts';
import type { Collection, Store } from '../context.ts';
import { runReindex } from '../reindex/run-reindex.ts';
import { beginReindex } from '../reindex/state.ts';
import { search } from '../search/search.ts';
import { openStore } from '../store.ts';
import { collectionStatus, createCollection, dropCollection, findCollection } from './collections.ts';
import { maintainFieldIndexes } from './field-indexes.ts';
import { loadSchema } from './schema.ts';
import { registerServers } from './shard-servers.ts';

describe('shards on several servers', () => {
  let main: TestDatabase;
  let other: TestDatabase;
  let store: Store;
  const open = (modules = TEST_MODULES) =>
    openStore({
      ...{ databaseUrl: main.url, shardServers: new Map([['b', other.url]]) },
      ...{ modules, parseOutputs: parseTestOutputs, graceMilliseconds: 0, indexedFrom: 10 },
    });
  const ask = async (sql: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: other.url });
    await client.connect();
    try {
      return (await client.query(sql, values)).rows;
    } finally {
      await client.end();
    }
  };

  beforeAll(async () => {
    main = await testDatabase();
    other = await testDatabase();
    store = await open();
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await main?.drop();
    await other?.drop();
  });

  const create = (name: string) => createCollection(store, name, { shards: 2, shardServers: ['main', 'b'] });
  const shelf = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({
      id: `document ${from + i}`,
      shelf: i % 4,
      import: testOutputs({ shape: [1, i / count, 0, 0] }),
    }));
  const add = async (collection: Collection, documents: readonly object[]) => {
    await accept(store, collection, documents);
    return commit(store, collection);
  };

  it('count towards the quota of their collection', async () => {
    const collection = await create('limited');
    await setQuota(store, collection, { maxDocuments: 20, maxBytes: null });
    const all = shelf(21);
    await add(collection, all.slice(0, 19));
    const { bytes } = await collectionStatus(store, collection);
    expect(bytes).toBeGreaterThan(19 * 'document 0'.length);
    await accept(store, collection, all.slice(0, 20));
    await expect(accept(store, collection, all)).rejects.toMatchObject({ code: 'quota-exceeded' });
    await commit(store, collection);
    await add(collection, all.slice(0, 20));
    const { documents, ...full } = await collectionStatus(store, collection);
    expect([documents, full.bytes > bytes]).toEqual([20, true]);
    await add(collection, [{ kind: 'delete-by-query', query: '*:*' }]);
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 0, bytes: 0 });
    await dropCollection(store, collection);
  });

  it('are filled, searched and emptied', async () => {
    const collection = await create('spread');
    expect(await add(collection, shelf(400))).toMatchObject({ applied: 400, failed: 0 });
    const there = await ask(`select count(*)::int as n from ${collection.sqlSchema}.documents_s1`);
    expect(there[0].n).toBeGreaterThan(60);
    expect(await visible(store, collection)).toHaveLength(400);
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    const { hits, numFound, ranking } = await search(store, collection, { query: parseQuery('*:*'), rows: 5, rank });
    expect([numFound, hits.map(({ id }) => id), ranking?.inMemory]).toEqual([
      ...[400, [0, 1, 2, 3, 4].map((n) => `document ${n}`), true],
    ]);
    const found = await search(store, collection, { query: parseQuery('shelf:2'), rows: 100, rank });
    expect([found.numFound, found.hits[0]?.id]).toEqual([100, 'document 2']);
    await accept(store, collection, [{ kind: 'delete-by-query', query: 'shelf:2' }, ...shelf(3, 500)]);
    expect(await commit(store, collection)).toMatchObject({ applied: 4, failed: 0 });
    // Some of these replace documents of the same commit.
    await accept(store, collection, shelf(20));
    await accept(store, collection, [...shelf(20), { kind: 'delete', id: 'document 1' }]);
    expect(await commit(store, collection)).toMatchObject({ applied: 41, failed: 0 });
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 307 });
    expect(await visible(store, collection)).toHaveLength(307);
    await maintain(store, [collection]);
    const [known] = await store.engine.query(
      `select reltuples::int as n from pg_class where oid = '${collection.sqlSchema}.documents_s1'::regclass`,
    );
    expect(known?.n).toBeGreaterThan(0);
    for (const table of ['documents', 'descriptors_shape', 'outputs']) {
      const [left] = await store.engine.query(`select count(*)::int as n from ${collection.sqlSchema}.${table}`);
      expect(left).toEqual({ n: 307 });
    }
    await dropCollection(store, collection);
    expect(await ask('select from pg_namespace where nspname = $1', [collection.sqlSchema])).toEqual([]);
  });

  it('get new fields, despite left-overs of an earlier attempt', async () => {
    const collection = await create('fields');
    await add(collection, shelf(20));
    await ask(`alter table ${collection.sqlSchema}.documents_s1 add column f2 boolean, add column f3 text collate "C"`);
    // Versions are read from the tables that get the columns.
    const wrong = { id: 'document 1', _version_: 999, colour: 'red', size: 'small' };
    await expect(accept(store, collection, [wrong])).rejects.toMatchObject({ code: 'conflict' });
    await add(
      collection,
      shelf(20).map((one) => ({ ...one, colour: 'red', size: 'small' })),
    );
    expect((await visible(store, collection, 'colour')).filter((one) => (one as string[])[1] === 'red')).toHaveLength(
      20,
    );
    const result = await search(store, collection, { query: parseQuery('colour:red AND size:small'), rows: 0 });
    expect(result.numFound).toBe(20);
    // A later module.
    await store[Symbol.asyncDispose]();
    const depth = {
      name: 'depth',
      outputs: [{ name: 'depth_mean', type: 'double' as const, returnedByDefault: true }],
      descriptor: { output: 'depth_descriptor', cell: 'depth_cell', dimensions: 8 },
    };
    store = await open([...TEST_MODULES, depth]);
    await store.engine.query(
      `insert into ${collection.sqlSchema}.descriptors_depth
       select doc, 0, '[1,0,0,0,0,0,0,0]' from ${collection.sqlSchema}.documents`,
    );
    expect((await ask(`select from ${collection.sqlSchema}.descriptors_depth_s1`)).length).toBeGreaterThan(0);
    await store[Symbol.asyncDispose]();
    store = await open();
    await dropCollection(store, collection);
  });

  it('get the names of this version, also where an earlier attempt changed only the other server', async () => {
    const collection = await create('names');
    await add(collection, shelf(20));
    const table = `${collection.sqlSchema}.documents_s1`;
    const columns = () =>
      ask('select attname from pg_attribute where attrelid = $1::regclass order by attnum', [table]);
    const before = await columns();
    for (const isRenamedThere of [false, true]) {
      await usePreviousNames(store, collection);
      if (!isRenamedThere) {
        await ask(`alter table ${table} rename column has_repeated_values to repeats`);
        await ask(`alter table ${table} rename column inserted_chunk to born`);
        await ask(`alter table ${table} rename column ended_chunk to ended`);
      }
      await store[Symbol.asyncDispose]();
      store = await open();
      expect(await columns()).toEqual(before);
      await add(collection, shelf(20));
      const answer = await search(store, collection, { query: parseQuery('shelf:1'), rows: 0 });
      expect(answer.numFound).toBe(5);
    }
    await dropCollection(store, collection);
  });

  it('have indexes on the fields that searches use, until a value is too long for them', async () => {
    const collection = await create('indexed');
    const texts = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ id: `text ${i}`, text_field: `word${i}` }));
    await add(collection, texts(60));
    const find = () => search(store, collection, { query: parseQuery('text_field:word7'), rows: 0 });
    expect((await find()).numFound).toBe(1);
    expect(await maintainFieldIndexes(store, collection)).toBe(true);
    const column = (await loadSchema(store, collection)).columns.get('text_field');
    const name = `field_${column?.kind === 'column' ? column.sql : ''}_rising_s1`;
    const indexes = () =>
      ask("select indexname from pg_indexes where schemaname = $1 and indexname like 'field%'", [collection.sqlSchema]);
    expect(await indexes()).toEqual([{ indexname: name }]);
    expect(await maintainFieldIndexes(store, collection)).toBe(false);
    expect((await find()).numFound).toBe(1);
    const long = texts(20).map((one, i) => ({
      ...one,
      text_field: Array.from({ length: 130 }, () => randomUUID()).join(String(i)),
    }));

    expect(await add(collection, long)).toMatchObject({ applied: 20, failed: 0 });
    expect(await indexes()).toEqual([]);
    await dropCollection(store, collection);
  });

  it('get a collection by a reindex, and lose it by another one', async () => {
    let collection = await createCollection(store, 'moving');
    await add(collection, shelf(60));
    for (const settings of [{ shards: 2, shardServers: ['b', 'main'] }, { shards: 3 }, { shards: 1 }]) {
      const holder = randomUUID();
      const target = await beginReindex(store, collection, holder, new Map(), settings);
      if (target === undefined) throw new Error('a reindex is already running');
      await runReindex(store, collection, target, {
        ...{ holder, allowMissing: false, signal: new AbortController().signal, wake: () => {} },
        commit: async (name) => commit(store, await findCollection(store, name)),
      });
      collection = await findCollection(store, 'moving');
      expect(await collectionStatus(store, collection)).toMatchObject({ shards: settings.shards, documents: 60 });
      const there = await ask("select from pg_tables where schemaname = $1 and tablename like 'documents%'", [
        collection.sqlSchema,
      ]);
      expect(there).toHaveLength([0, 0, 1, 2][settings.shards] ?? 0);
    }
    await dropCollection(store, collection);
  });

  it.each([
    [{ shards: 2, shardServers: ['main', 'nobody'] }, 'Known servers: main, b'],
    [{ shards: 1, shardServers: ['b'] }, 'shards=2'],
    [{ shards: 2, shardServers: ['b', 'main', 'b', 'c'] }, 'no shard server'],
  ])('are refused as %j', async (settings, message) => {
    await expect(createCollection(store, 'refused', settings)).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining(message),
    });
  });

  it('have URLs with passwords that cannot be read', async () => {
    const named = (name: string, url: string) => registerServers(store.engine, new Map([[name, url]]));
    const wrong: [string, string][] = [
      ['c', 'http://me:secret@127.0.0.1/x'],
      ['main', 'postgres://me:secret@127.0.0.1/x'],
      ['No', 'postgres://me:secret@127.0.0.1/x'],
    ];
    for (const [name, url] of wrong) {
      const error = await named(name, url).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'bad-request' });
      expect(JSON.stringify([error, String(error)])).not.toContain('secret');
    }
    // A server that moved.
    await named('c', "postgres://me:it's@127.0.0.1:1/x?sslmode=disable");
    await named('c', other.url);
    const collection = await createCollection(store, 'elsewhere', { shards: 2, shardServers: ['c', 'main'] });
    expect(await add(collection, shelf(10))).toMatchObject({ applied: 10 });
    await dropCollection(store, collection);
  });

  it('can be dropped if a server no longer exists', async () => {
    await registerServers(store.engine, new Map([['gone', other.url]]));
    const collection = await createCollection(store, 'left', { shards: 2, shardServers: ['main', 'gone'] });
    await store.engine.query('drop server akin_gone cascade');
    await dropCollection(store, collection);
    await expect(findCollection(store, 'left')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('are not led by an akin that does not support them', async () => {
    const collection = await create('newer');
    await store.engine.transaction(async (tx) => {
      await tx.query("set local akin.knows = 'shards'");
      const rows = await tx.query(
        "insert into akin.leases (collection, epoch, holder, expires_at) values ($1, 0, 'old', now()) returning 1",
        [collection.id],
      );
      expect(rows).toEqual([]);
    });
    await dropCollection(store, collection);
  });
});
