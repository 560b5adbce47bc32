import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { afterEach, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { reindex, storeWithModels, workOf } from '../../../test/reindexing.ts';
import { accept, testOutputs, visible } from '../../../test/support.ts';
import { claimForAnalysis, failAnalysis, saveAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { collectionStatus, createCollection, findCollection } from '../../database/collections/collections.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { type ReindexWork, runReindex } from './run-reindex.ts';
import { orphanedReindexes, reindexState, resumeReindex } from './state.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** A collection of pictures with outputs that the models in use no longer accept. */
async function pictures(count: number) {
  const { store, takes, close } = await storeWithModels();
  open.push(close);
  const collection = await createCollection(store, 'books');
  const outputs = testOutputs({ shape: [1, 0, 0, 0] });
  await accept(
    store,
    collection,
    Array.from({ length: count }, (_, i) => ({ id: `d${i}`, image: `https://example.org/${i}`, import: outputs })),
  );
  await commit(store, collection);
  takes.first = false;
  return { store, collection };
}

/** Work in which no picture can be fetched. */
const withoutPictures = (store: Store, code: 'image-unreachable' | 'internal' = 'image-unreachable') =>
  workOf(store, async () => {
    for (const task of await claimForAnalysis(store, 10_000)) {
      await failAnalysis(store, task, { code, msg: 'It failed.' });
    }
  });

/** Work in which each picture is analyzed when it is queued. */
function withPictures(store: Store, onCommit?: () => Promise<void>): ReindexWork {
  const analyzeAll = async () => {
    for (const task of await claimForAnalysis(store, 10)) await saveAnalysis(store, task, outputs);
  };
  return workOf(store, onCommit, { wake: () => void analyzeAll().catch(() => {}) });
}

const outputs = testOutputs({ shape: [0, 0, 0, 1], names: ['v2'] });
const reanalyze = async () => ({ outputs, fromThumbnail: true });

it('saves every picture by its thumbnail, or reports it, however many cannot be fetched', async () => {
  const { store, collection } = await pictures(1_100);
  await expect(reindex(store, collection, withoutPictures(store))).rejects.toThrow('1100 documents cannot be copied');
  const rebuilt = await reindex(store, collection, { ...withoutPictures(store), reanalyze });
  expect(await reindexState(store, 'books')).toMatchObject({ state: 'done', thumbnails: 1_100, missing: [] });
  expect(await collectionStatus(store, rebuilt)).toMatchObject({ documents: 1_100, failed: 0 });
});

it('continues after an outage with what it has copied', async () => {
  const { store, collection } = await pictures(2);
  let outages = 1;
  const work = withPictures(store, async () => {
    if (outages-- > 0) throw new AkinError('unavailable', 'The database cannot be reached.');
  });
  const again = { ...work, holder: randomUUID() };
  await expect(reindex(store, collection, work)).rejects.toThrow('cannot be reached');
  expect(await reindexState(store, 'books')).toMatchObject({ state: 'copying', alive: false, copied: 2 });
  expect(await orphanedReindexes(store)).toEqual(['books']);
  const resumed = await resumeReindex(store, collection, again.holder);
  if (resumed === undefined) throw new Error('nothing to continue');
  await runReindex(store, collection, resumed.target, again);
  expect(await visible(store, await findCollection(store, 'books'))).toEqual(['d0', 'd1']);
});

it('is done after the swap, even if that could not be recorded', async () => {
  const { store, collection } = await pictures(1);
  await store.engine.query(
    `create function akin.refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`,
  );
  await store.engine.query(
    `create trigger refuse before update on akin.reindexes for each row when (new.state = 'done') execute function akin.refuse()`,
  );
  await expect(reindex(store, collection, withPictures(store))).rejects.toThrow();
  await store.engine.query('drop trigger refuse on akin.reindexes');
  expect((await findCollection(store, 'books')).id).not.toBe(collection.id);
  expect(await orphanedReindexes(store)).toEqual([]);
  expect(await reindexState(store, 'books')).toMatchObject({ state: 'done' });
});

it('leaves no failures of copies behind, which nobody could list or retry', async () => {
  const { store, collection } = await pictures(2);
  const rebuilt = await reindex(store, collection, { ...withoutPictures(store, 'internal'), allowMissing: true });
  expect(await reindexState(store, 'books')).toMatchObject({ state: 'done', missing: [{ id: 'd0' }, { id: 'd1' }] });
  expect(await collectionStatus(store, rebuilt)).toMatchObject({ documents: 0, failed: 0 });
  await accept(store, rebuilt, [{ kind: 'delete', id: 'd0' }]);
  await commit(store, rebuilt);
  await maintain(store);
  expect(await store.engine.query(`select * from ${rebuilt.sqlSchema}.barriers`)).toEqual([]);
});

it('takes over which fields searches use, unless their types change', async () => {
  const { store, close } = await storeWithModels();
  open.push(close);
  const collection = await createCollection(store, 'books');
  await accept(store, collection, [{ id: 'a', price: 1.5, sold: 3 }]);
  await commit(store, collection);
  const usesOf = async ({ sqlSchema }: { readonly sqlSchema: string }) =>
    store.engine.query<{ column: string; kind: string }>(
      `select "column", kind from ${sqlSchema}.field_uses order by 1, 2`,
    );
  const columnOf = async (name: string, of = collection) => {
    const column = (await loadSchema(store, of)).columns.get(name);
    return column?.kind === 'column' ? column.sql : '';
  };
  for (const column of ['id', await columnOf('price'), await columnOf('sold')]) {
    await store.engine.query(`insert into ${collection.sqlSchema}.field_uses ("column", kind) values ($1, 'rising')`, [
      column,
    ]);
  }
  const rebuilt = await reindex(store, collection, workOf(store), new Map([['sold', 'string']]));
  const expected = ['id', await columnOf('price', rebuilt)].sort().map((column) => ({ column, kind: 'rising' }));
  expect(await usesOf(rebuilt)).toEqual(expected);
});
