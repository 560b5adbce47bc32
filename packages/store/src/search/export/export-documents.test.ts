import { afterEach, describe, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { accept, ENGINES, openTestStore, testLocation, testOutputs, visible } from '../../../test/support.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection } from '../../database/collections/collections.ts';
import { defineFields } from '../../database/collections/define-fields.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { type ExportRequest, exportDocuments } from './export-documents.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Replaced rows are removed at once, unless something keeps them. */
async function emptyStore(kind: (typeof ENGINES)[number]): Promise<Store> {
  const { location, remove } = await testLocation(kind);
  const store = await openTestStore(location);
  open.push(remove, async () => store[Symbol.asyncDispose]());
  return store;
}

const ALL: ExportRequest = { query: { kind: 'all' }, filters: [], rows: 10, bytes: 1e9 };
const numbered = (count: number, value: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `d${String(i).padStart(2, '0')}`, value }));

describe.each(ENGINES)('an export on %s', (kind) => {
  it('shows one commit to its end, and then releases it', async () => {
    const store = await emptyStore(kind);
    const collection = await createCollection(store, 'books');
    await accept(store, collection, numbered(25, 1));
    await commit(store, collection);
    let page = await exportDocuments(store, collection, ALL);
    const documents = [...page.documents];
    await accept(store, collection, [...numbered(20, 2), { kind: 'delete', id: 'd24' }]);
    await commit(store, collection);
    await maintain(store);
    while (page.next !== undefined) {
      page = await exportDocuments(store, collection, { ...ALL, cursor: page.next });
      documents.push(...page.documents);
    }
    expect(page.commit).toBe(1);
    expect(documents.map(({ fields }) => [fields.get('id'), fields.get('value')])).toEqual(
      numbered(25, 1).map(({ id }) => [id, 1n]),
    );
    await maintain(store);
    const [row] = await store.engine.query<{ rows: bigint }>(
      `select count(*) as rows from ${collection.sqlSchema}.documents`,
    );
    expect(row?.rows).toBe(24n);
  });

  it('writes the outputs of a picture, empty lists too, also after the document was changed', async () => {
    const store = await emptyStore(kind);
    const collection = await createCollection(store, 'books');
    const outputsOf = async () =>
      (await exportDocuments(store, collection, ALL)).documents.map(({ outputs }) => outputs);
    await accept(store, collection, [
      { id: 'a', import: testOutputs({ shape: [1, 0, 0, 0.5], names: [] }) },
      { id: 'b', import: testOutputs({ names: ['red'] }) },
      { id: 'c' },
    ]);
    await commit(store, collection);
    const expected = [
      '{"shape_descriptor":"1,0,0,0.5","shape_cluster":0,"shape_rerank":-4611686018427387904,"tint_names":[],"tint_isolated":true,"tint_freq":[0.25,0.75],"tint_free":[0,8]}',
      '{"tint_names":["red"],"tint_isolated":true,"tint_freq":[0.25,0.75],"tint_free":[0,8]}',
      null,
    ];
    expect(await outputsOf()).toEqual(expected);
    await accept(store, collection, [{ id: 'a', value: { set: 1 } }]);
    await accept(store, collection, [{ id: 'a', value: { inc: 1 } }]);
    await commit(store, collection);
    expect((await outputsOf()).toSorted()).toEqual(expected.toSorted());
  });

  it('reports that its commit is no longer kept', async () => {
    const store = await emptyStore(kind);
    const collection = await createCollection(store, 'books');
    await accept(store, collection, numbered(25, 1));
    await commit(store, collection);
    const { next } = await exportDocuments(store, collection, ALL);
    await store.engine.query(`update akin.pins set expires_at = now() - interval '1 second'`);
    await expect(exportDocuments(store, collection, { ...ALL, cursor: next })).rejects.toMatchObject({
      code: 'conflict',
    });
    const other = await createCollection(store, 'other');
    await expect(exportDocuments(store, other, { ...ALL, cursor: next })).rejects.toMatchObject({
      code: 'bad-request',
    });
    await dropCollection(store, collection);
    expect(await store.engine.query('select 1 from akin.pins')).toEqual([]);
    await expect(exportDocuments(store, collection, ALL)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('a page of an export', () => {
  it('ends after its bytes, of which most may be in fields', async () => {
    const store = await emptyStore('postgres');
    const collection = await createCollection(store, 'books');
    const long = { summary: 'x'.repeat(20_000), notes: 'y'.repeat(20_000) };
    await accept(
      store,
      collection,
      numbered(30, 1).map((document) => ({ ...document, ...long })),
    );
    await commit(store, collection);
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await exportDocuments(store, collection, { ...ALL, rows: 1_000, bytes: 400_000, cursor });
      sizes.push(page.documents.length);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(sizes).toEqual([10, 10, 10]);
  });

  it('keeps no commit when the first one fails', async () => {
    const store = await emptyStore('postgres');
    const collection = await createCollection(store, 'books');
    await accept(store, collection, numbered(1, 1));
    await commit(store, collection);
    const query = { kind: 'term', field: 'value', text: 'no number' } as unknown as ExportRequest['query'];
    await expect(exportDocuments(store, collection, { ...ALL, query })).rejects.toThrow();
    expect(await store.engine.query('select 1 from akin.pins')).toEqual([]);
  });
});

describe.each(ENGINES)('fields that are defined on %s', (kind) => {
  it('have their permanent type before any value', async () => {
    const store = await emptyStore(kind);
    const collection = await createCollection(store, 'books');
    await defineFields(
      store,
      collection,
      new Map([
        ['code', 'string'],
        ['price', 'double'],
      ]),
    );
    await defineFields(store, collection, new Map([['code', 'string']]));
    await accept(store, collection, [{ id: 'a', code: '2024-01-01', price: 5 }]);
    await commit(store, collection);
    expect(await visible(store, collection, 'code')).toEqual([['a', '2024-01-01']]);
    expect(await visible(store, collection, 'price')).toEqual([['a', 5]]);
    const other = defineFields(
      store,
      collection,
      new Map([
        ['code', 'date'],
        ['more', 'long'],
      ]),
    );
    await expect(other).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('"code"') });
    await expect(defineFields(store, collection, new Map([['a\nb', 'long']]))).rejects.toThrow(/control/);
    expect((await loadSchema(store, collection)).fields.has('more')).toBe(false);
  });
});
