import { parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { reindex, targetOf, workOf } from '../../../test/reindexing.ts';
import {
  accept,
  ENGINES,
  openTestStore,
  TEST_MODULES,
  type TestLocation,
  testLocation,
  testOutputs,
  visible,
} from '../../../test/support.ts';
import { claimForAnalysis, saveAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { search } from '../../search/search.ts';
import type { Collection } from '../context.ts';
import { collectionStatus, createCollection, findCollection } from './collections.ts';
import { maintainFieldIndexes } from './field-indexes.ts';
import { loadSchema } from './schema.ts';

describe.each(ENGINES)('shards on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let location: TestLocation;
  let remove: () => Promise<void>;
  let store: Store;
  const open = (modules = TEST_MODULES) => openTestStore(location, 0, { modules, indexedFrom: 10 });

  beforeAll(async () => {
    ({ location, remove } = await testLocation(kind));
    store = await open();
  });
  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });

  const shelf = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({
      id: `document ${from + i}`,
      shelf: i % 4,
      import: testOutputs({ shape: [1, 0, 0, 0] }),
    }));
  const add = async (collection: Collection, documents: readonly object[]) => {
    await accept(store, collection, documents);
    await commit(store, collection);
  };
  /** Number of documents of each shard, by their tables. */
  const spread = async ({ sqlSchema }: Collection, table = 'documents') => {
    const rows = await store.engine.query<{ name: string; count: number }>(
      `select tableoid::regclass::text as name, count(*)::int as count from ${sqlSchema}.${table} group by 1 order by 1`,
    );
    return rows.map(({ name, count }) => [name.split('.')[1], count]);
  };

  it('divide the documents of a collection, with all their data', async () => {
    const collection = await createCollection(store, 'four', { shards: 4 });
    expect(await collectionStatus(store, await findCollection(store, 'four'))).toMatchObject({ shards: 4 });
    await add(collection, shelf(200));
    const found = await spread(collection);
    expect(found.map(([name]) => name)).toEqual(['documents_s0', 'documents_s1', 'documents_s2', 'documents_s3']);
    for (const [, count] of found) expect(count).toBeGreaterThan(30);
    const described = await spread(collection, 'descriptors_shape');
    expect(described.map(([, count]) => count)).toEqual(found.map(([, count]) => count));
    // A document stays in its shard.
    await add(collection, shelf(200));
    await maintain(store, [collection]);
    expect(await spread(collection)).toEqual(found);
    await dropCollection(store, collection);
  });

  itOnPostgres.each([0, 65, 1.5, -4, Number.NaN])('are not %d', async (shards) => {
    await expect(createCollection(store, 'refused', { shards })).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringContaining('1 to 64 shards'),
    });
  });

  it('get later fields and modules', async () => {
    const collection = await createCollection(store, 'later', { shards: 3 });
    await add(collection, shelf(20));
    await add(collection, [{ id: 'new', colour: 'red' }]);
    expect(await visible(store, collection, 'colour')).toContainEqual(['new', 'red']);
    await store[Symbol.asyncDispose]();
    const depth = {
      name: 'depth',
      outputs: [{ name: 'depth_mean', type: 'double' as const, returnedByDefault: true }],
      descriptor: { output: 'depth_descriptor', cell: 'depth_cell', dimensions: 8 },
    };
    store = await open([...TEST_MODULES, depth]);
    const column = { kind: 'column', sql: 'depth_mean', type: 'double' };
    expect((await loadSchema(store, collection)).columns.get('depth_mean')).toEqual(column);
    await store.engine.query(
      `insert into ${collection.sqlSchema}.descriptors_depth
       select doc, '[1,0,0,0,0,0,0,0]', '' from ${collection.sqlSchema}.documents`,
    );
    expect(await spread(collection, 'descriptors_depth')).toHaveLength(3);
    await store[Symbol.asyncDispose]();
    store = await open();
    expect((await loadSchema(store, collection)).fields.has('depth_mean')).toBe(false);
    await dropCollection(store, collection);
  });

  itOnPostgres('have indexes on the fields that searches use', async () => {
    const collection = await createCollection(store, 'indexed', { shards: 3 });
    await add(collection, shelf(60));
    const find = () => search(store, collection, { query: parseQuery('shelf:2'), rows: 0 });
    expect((await find()).numFound).toBe(15);
    await store.engine.query(
      `update ${collection.sqlSchema}.field_uses set first_used_at = now() - interval '6 seconds'`,
    );
    expect(await maintainFieldIndexes(store, collection)).toBe(true);
    const column = (await loadSchema(store, collection)).columns.get('shelf');
    const name = `field_${column?.kind === 'column' ? column.sql : ''}_rising`;
    const indexes = async () => {
      const rows = await store.engine.query<{ name: string }>(
        `select tablename || ' ' || indexname as name from pg_indexes where schemaname = $1 and tablename like 'documents%' and indexname like 'field%' order by 1`,
        [collection.sqlSchema],
      );
      return rows.map((row) => row.name);
    };
    expect(await indexes()).toEqual([0, 1, 2].map((shard) => `documents_s${shard} ${name}_s${shard}`));
    expect(await maintainFieldIndexes(store, collection)).toBe(false);
    expect((await find()).numFound).toBe(15);
    await store.engine.query(`update ${collection.sqlSchema}.field_uses set last_used_on = current_date - 31`);
    await maintainFieldIndexes(store, collection);
    expect(await indexes()).toEqual([]);
    await dropCollection(store, collection);
  });

  itOnPostgres('need no MD5, which servers in FIPS mode refuse', async () => {
    const { location: other, remove: removeOther } = await testLocation(kind);
    try {
      await using plain = await openTestStore(other);
      await plain.engine.query('alter function pg_catalog.md5(text) rename to md5_of_text');
      await plain.engine.query('alter function pg_catalog.md5(bytea) rename to md5_of_bytes');
      const collection = await createCollection(plain, 'plain', { shards: 4 });
      const thumbnail = Buffer.from('RIFF0000WEBP');
      const analyzed = await accept(plain, collection, [
        { id: 'sent', import: testOutputs({}) },
        { id: 'a', image: 'http://a' },
      ]);
      for (const task of await claimForAnalysis(plain, 1)) await saveAnalysis(plain, task, testOutputs({}), thumbnail);
      expect(await commit(plain, collection)).toMatchObject({ applied: 2, failed: 0 });
      expect(analyzed.count).toBe(2);
    } finally {
      await removeOther();
    }
  });

  it('change their number by a reindex, with pending changes', async () => {
    let collection = await createCollection(store, 'growing');
    await add(collection, shelf(100));
    for (const [i, shards] of [4, 2, 1].entries()) {
      await accept(store, collection, [{ id: `waits ${i}`, image: 'http://example.com/x.png' }]);
      collection = await reindex(store, collection, workOf(store), new Map(), { shards });
      expect(await collectionStatus(store, collection)).toMatchObject({ shards, documents: 100, pending: i + 1 });
      expect(await spread(collection)).toHaveLength(shards);
      const [row] = await store.engine.query<{ shards: number }>(
        `select count(distinct doc >> 40)::int as shards from ${collection.sqlSchema}.operations where state = 'queued'`,
      );
      expect(row?.shards).toBeLessThanOrEqual(shards);
    }
    // As many as before, unless requested otherwise.
    const same = await createCollection(store, 'same', { shards: 2 });
    expect((await targetOf(store, same)).settings).toEqual({ shards: 2 });
    await expect(reindex(store, collection, workOf(store), new Map(), { shards: 65 })).rejects.toMatchObject({
      code: 'bad-request',
    });
  });
});
