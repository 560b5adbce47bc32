import { parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { statementsOf } from '../../test/sent-statements.ts';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, testOutputs } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import { requireOwnModels } from '../database/collections/models.ts';
import { schemasOf } from '../database/collections/schema.ts';
import type { Collection } from '../database/context.ts';
import { getDocuments, readThumbnail } from './read.ts';
import type { SearchInput } from './request.ts';
import { search } from './search.ts';
import { visibleCommitsOf } from './snapshot.ts';

describe.each(ENGINES)('a search on %s', (kind) => {
  let store: Store;
  let collection: Collection;

  const add = async (...documents: readonly object[]) => {
    await accept(store, collection, documents);
    await commit(store, collection);
  };
  const document = (n: number) => ({
    id: String(n),
    half: n % 2,
    import: testOutputs({ shape: [Math.cos(n), Math.sin(n), 0, 0] }),
  });

  sharedStore(kind, async (opened) => {
    store = opened;
    collection = await createCollection(store, 'views');
    await add(...Array.from({ length: 30 }, (_, n) => document(n)));
  });

  const schemaOf = () => schemasOf(store).get(collection.id);
  const vector = Float32Array.from([1, 0, 0, 0]);
  const rank = { module: 'shape', vector };
  const find = (q: string, request: Partial<SearchInput> = {}) =>
    search(store, collection, { query: parseQuery(q), rows: 10, ...request });

  it.each([
    ['a document by its id', 1, () => find('id:7')],
    ['a document by its id, on a page of one', 1, () => find('id:7', { rows: 1 })],
    ['documents by their ids', 1, () => find('id:(7 8 x)', { sort: [{ name: 'half', direction: 'asc' }] })],
    ['documents by their ids, without a search', 1, () => getDocuments(store, collection, ['7'], ['*'])],
    ['models, by a schema that is known', 0, () => requireOwnModels(store, collection, ['shape'], schemaOf())],
    ['a thumbnail', 1, () => readThumbnail(store, collection, '7')],
    ['a page of everything', 1, () => find('*:*')],
    ['a count of everything', 1, () => find('*:*', { rows: 0 })],
    ['a page of some, and their count', 2, () => find('half:1')],
    ['the nearest', 1, () => find('*:*', { rank })],
    ['the nearest under a filter', 1, () => find('*:*', { rank, filters: [parseQuery('half:1')] })],
    ['those within a distance', 1, () => find('*:*', { rank: { ...rank, maxDistance: 0.5 } })],
    [
      'the nearest to a document',
      2,
      () =>
        find('*:*', {
          rank: async (stored) => ({ module: 'shape', vector: (await stored('7', 'shape')) as Float32Array }),
        }),
    ],
  ])('asks for %s in few statements: %d', async (_, count, ask) => {
    // The first time it learns what the collection shows, and reads vectors and filters.
    const first = await ask();
    let again: unknown;
    const sent = await statementsOf(async () => {
      again = await ask();
    });
    expect(sent).toHaveLength(count);
    expect(again).toEqual(first);
  });

  it('asks once more for a filter that is not in memory', async () => {
    await find('*:*', { rank });
    const sent = await statementsOf(() => find('*:*', { rank, filters: [parseQuery('half:[0 TO 0]')] }));
    expect(sent).toHaveLength(2);
  });

  it('shows a commit of another process, whose news it did not get', async () => {
    const asked = {
      byId: () => find('id:new'),
      all: () => find('*:*', { rows: 0 }),
      ranked: () => find('*:*', { rank, rows: 100 }),
      filtered: () => find('half:1', { rank, rows: 100 }),
    };
    for (const ask of Object.values(asked)) await ask();
    const before = visibleCommitsOf(store).get(collection.id);
    await add({ ...document(31), id: 'new' });
    for (const [name, ask] of Object.entries(asked)) {
      if (before) visibleCommitsOf(store).set(collection.id, before);
      const result = await ask();
      expect([name, result.commit]).toEqual([name, Number(before?.commit) + 1]);
      if (name !== 'all') expect(result.hits.map(({ id }) => id)).toContain('new');
    }
    expect((await find('*:*')).numFound).toBe(31);
  });

  it('finds by a field that came since, and what a collection is without it', async () => {
    await find('*:*');
    const before = visibleCommitsOf(store).get(collection.id);
    await add({ id: 'with', color: 'red' });
    if (before) visibleCommitsOf(store).set(collection.id, before);
    expect((await find('color:red')).hits.map(({ id }) => id)).toEqual(['with']);
    await expect(find('colour:red')).rejects.toMatchObject({ code: 'bad-request' });
  });

  it('needs a commit that a token stands for, also where this process has seen an older one alone', async () => {
    await find('*:*');
    const before = visibleCommitsOf(store).get(collection.id);
    await add({ id: 'newer' });
    if (before) visibleCommitsOf(store).set(collection.id, before);
    expect((await find('id:newer', { atLeast: (before?.commit ?? 0n) + 1n })).hits).toHaveLength(1);
    await expect(find('id:newer', { atLeast: 1_000n })).rejects.toMatchObject({ code: 'unavailable' });
  });
});
