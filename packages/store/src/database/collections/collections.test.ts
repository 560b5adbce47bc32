import type { FieldType } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ENGINES, openTestStore, type TestLocation, testLocation } from '../../../test/support.ts';
import type { Store } from '../../changes/context.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { collectionStatus, createCollection, findCollection, listCollections } from './collections.ts';
import { addFields } from './fields.ts';
import { loadSchema } from './schema.ts';

describe.each(ENGINES)('collections on %s', (kind) => {
  let store: Store;
  let location: TestLocation;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ location, remove } = await testLocation(kind));
    store = await openTestStore(location);
  });

  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });

  it('has my-collection from the start, empty and without a commit', async () => {
    const collection = await findCollection(store, 'my-collection');
    expect(collection.sqlSchema).toBe('c1_my_collection');
    expect(await collectionStatus(store, collection)).toEqual({
      documents: 0,
      commit: 0,
      committedAt: null,
      pending: 0,
      pendingSince: null,
      failed: 0,
      failures: {},
      shards: 1,
      bytes: 0,
      quota: { maxDocuments: null, maxBytes: null },
    });
  });

  onPostgres(kind, it)('drops a collection after a deadlock with other work', async () => {
    const collection = await createCollection(store, 'deadlocked');
    const table = `${collection.sqlSchema}.documents`;
    const waiting = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`;
    let dropping: Promise<void> | undefined;
    await store.engine.transaction(async (tx) => {
      // The other one finds the deadlock, and is ended.
      await tx.query("set local deadlock_timeout = '1h'");
      await tx.query(`lock table ${table} in row exclusive mode`);
      dropping = dropCollection(store, collection);
      while ((await tx.query(waiting)).length === 0);
      await tx.query('update akin.collections set settings = settings where id = $1', [collection.id]);
    });
    await dropping;
    await expect(findCollection(store, 'deadlocked')).rejects.toMatchObject({ code: 'not-found' });
  });

  it('creates, lists and drops; a name can be reused', async () => {
    const settings = { language: 'de', nested: { a: [1] } };
    const collection = await createCollection(store, 'Shop.2024', settings);
    expect((await findCollection(store, 'Shop.2024')).settings).toEqual(settings);
    expect((await listCollections(store)).map(({ name }) => name)).toEqual(['Shop.2024', 'my-collection']);
    await expect(createCollection(store, 'Shop.2024')).rejects.toMatchObject({ code: 'conflict' });
    await dropCollection(store, collection);
    await expect(findCollection(store, 'Shop.2024')).rejects.toMatchObject({ code: 'not-found' });
    await expect(collectionStatus(store, collection)).rejects.toMatchObject({ code: 'not-found' });
    const again = await createCollection(store, 'Shop.2024');
    expect(again.sqlSchema).not.toBe(collection.sqlSchema);
    await dropCollection(store, again);
  });

  it.each(['', '-a', 'a/b', 'ü', 'a'.repeat(101), 'a b', 'a"; drop schema akin; --'])(
    'refuses the name %j',
    async (name) => {
      await expect(createCollection(store, name)).rejects.toMatchObject({ code: 'bad-request' });
      await expect(findCollection(store, name)).rejects.toMatchObject({ code: 'not-found' });
    },
  );

  it('has the fields of modules and their columns from the start', async () => {
    const schema = await loadSchema(store, await findCollection(store, 'my-collection'));
    expect(schema.fields.get('tint_names')).toMatchObject({
      type: 'strings',
      origin: 'analysis',
      returnedByDefault: true,
    });
    expect(schema.columns.get('tint_names')).toEqual({ kind: 'column', sql: 'tint_names', type: 'strings' });
    expect(schema.columns.get('shape_descriptor')).toEqual({ kind: 'output', module: 'shape' });
    expect(schema.columns.get('location')).toEqual({ kind: 'location', lat: 'lat', lon: 'lon' });
    expect([...schema.fields.keys()].slice(0, 5)).toEqual(['id', 'image', 'labels', 'location', 'text']);
  });

  it('adds fields as typed columns, and a view that shows them by name', async () => {
    const collection = await createCollection(store, 'fields');
    const before = await loadSchema(store, collection);
    const long = 'n'.repeat(70);
    const define = (fields: Readonly<Record<string, FieldType>>) =>
      store.engine.transaction((tx) => addFields(tx, collection, new Map(Object.entries(fields))));
    await define({
      price: 'double',
      [`${long}1`]: 'long',
      [`${long}2`]: 'string',
      'say "hi"': 'date',
      image_: 'boolean',
    });
    await define({ ['späße'.repeat(20)]: 'string', lat: 'string' });
    const after = await loadSchema(store, collection);
    expect(after.version).toBeGreaterThan(before.version);
    expect(before.fields.has('price')).toBe(false);
    expect(after.fields.get('price')).toEqual({
      name: 'price',
      type: 'double',
      origin: 'document',
      returnedByDefault: true,
    });
    const columnOf = (name: string) => Object(after.columns.get(name)).sql;
    expect(columnOf('price')).toMatch(/^f\d+$/);
    const names = await store.engine.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = '${collection.sqlSchema}.live_documents'::regclass and attnum > 0`,
    );
    const shown = ['price', columnOf(`${long}1`), columnOf(`${long}2`), 'say "hi"', 'lat', '~lat'];
    expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(shown));
    expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
    await store.engine.query(`select * from ${collection.sqlSchema}.live_documents`);
    await dropCollection(store, collection);
  });

  it('refuses more than 1000 fields', async () => {
    const collection = await createCollection(store, 'wide');
    const fields = (count: number, prefix: string) =>
      new Map(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 'long' as const]));
    await store.engine.transaction((tx) => addFields(tx, collection, fields(1000, 'a')));
    await expect(store.engine.transaction((tx) => addFields(tx, collection, fields(1, 'b')))).rejects.toMatchObject({
      code: 'bad-request',
    });
    await dropCollection(store, collection);
  });

  it('opens a store that a newer version of akin has opened since', async () => {
    const collection = await createCollection(store, 'mixed');
    const sql = 'update akin.collections set tables_version = 1000, modules = $2 where id = $1';
    await store.engine.query(sql, [collection.id, '[]']);
    await store[Symbol.asyncDispose]();
    store = await openTestStore(location);
    const row = 'select tables_version from akin.collections where id = $1';
    expect(await store.engine.query(row, [collection.id])).toEqual([{ tables_version: 1000 }]);
    await dropCollection(store, collection);
  });

  it('is used by one akin at a time', async () => {
    await expect(openTestStore(location)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/Another akin .*uses/),
    });
  });
});
