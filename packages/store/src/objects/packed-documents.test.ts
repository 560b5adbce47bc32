import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  accept,
  ENGINES,
  type EngineKind,
  openTestStore,
  type TestLocation,
  testLocation,
  testOutputs,
} from '../../test/support.ts';
import { claimForAnalysis, saveAnalysis } from '../analyze/analysis.ts';
import { maintain } from '../bulk/maintain.ts';
import { createCollection, dropCollection, findCollection } from '../collections/collections.ts';
import { commit } from '../commit/commit.ts';
import type { Collection, Store } from '../context.ts';
import { exportDocuments } from '../export/export-documents.ts';
import { runReindex } from '../reindex/run-reindex.ts';
import { beginReindex } from '../reindex/state.ts';
import { getDocuments } from '../search/get-documents.ts';
import { readThumbnail } from '../search/read.ts';
import { search } from '../search/search.ts';
import { backup, restore } from '../store.ts';
import { collectGarbage } from './collect-garbage.ts';
import { objectStoreUnavailable } from './object-store.ts';
import { openPacks } from './open-packs.ts';
import { type OutputsColumns, readOutputs } from './packed-rows.ts';

const WEBP = Buffer.from('RIFF0000WEBPVP8 thumbnail');
const outputsOf = (n: number) => testOutputs({ shape: [n, 1, 0, 0], names: ['red', `n${n}`] });
const withPicture = (id: string, n: number, more: object = {}) => ({
  id,
  import: outputsOf(n),
  thumbnail: WEBP.toString('base64'),
  ...more,
});

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Opened {
  readonly store: Store;
  readonly collection: Collection;
  readonly folder: string;
  readonly location: TestLocation;
}

/** @param kept milliseconds that unused objects are kept */
async function openPacked(kind: EngineKind, { kept = 0, isPacked = true, shards = 1 } = {}): Promise<Opened> {
  const { location, remove } = await testLocation(kind);
  const folder = await mkdtemp(path.join(tmpdir(), 'akin-packs-'));
  open.push(remove, () => rm(folder, { recursive: true, force: true }));
  const store = await openTestStore(
    location,
    0,
    isPacked ? { objects: { location: folder, keptMilliseconds: kept } } : {},
  );
  open.push(async () => store[Symbol.asyncDispose]());
  return { store, collection: await createCollection(store, 'shop', { shards }), folder, location };
}

async function objectsIn(folder: string): Promise<string[]> {
  const all = await readdir(path.join(folder, 'packs'), { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** The documents with all their data, in each way in which they can be read. */
async function everything(store: Store, collection: Collection) {
  const query = { kind: 'all' } as const;
  const fields = ['id', 'shape_descriptor', 'tint_names', 'title'];
  const sort = [{ name: 'id', direction: 'asc' }] as const;
  const found = await search(store, collection, { query, fields, sort, rows: 100 });
  const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
  const ranked = await search(store, collection, { query, fields, rank, rows: 100 });
  const ids = found.hits.map(({ id }) => id);
  const got = await getDocuments(store, collection, ids, () => fields);
  const { documents } = await exportDocuments(store, collection, { query, filters: [], rows: 100, bytes: 1e9 });
  const plain = (document: ReadonlyMap<string, unknown> | undefined) => [...(document ?? [])];
  return Promise.all(
    found.hits.map(async ({ id, document }) => {
      const exported = documents.find((one) => one.fields.get('id') === id);
      return {
        found: plain(document),
        ranked: plain(ranked.hits.find((hit) => hit.id === id)?.document),
        got: plain(got?.get(id)),
        outputs: exported?.outputs,
        exported: exported?.thumbnail && Buffer.from(exported.thumbnail).toString(),
        thumbnail: (await (await readThumbnail(store, collection, id))?.read())?.toString(),
      };
    }),
  );
}

async function rowsWithBytes(store: Store, { sqlSchema: S }: Collection): Promise<number> {
  const [row] = await store.engine.query<{ n: bigint }>(
    `select (select count(*) from ${S}.outputs where json is not null)
          + (select count(*) from ${S}.thumbnails where bytes is not null) as n`,
  );
  return Number(row?.n);
}

describe.each(ENGINES)('outputs and thumbnails in objects on %s', (kind) => {
  it('are read as from the database, which contains none of their bytes', async () => {
    const documents = [withPicture('a', 1, { title: 'x' }), withPicture('b', 2), { id: 'c', title: 'no picture' }];
    const shown = [];
    for (const isPacked of [false, true]) {
      const { store, collection, folder } = await openPacked(kind, { isPacked });
      await accept(store, collection, documents);
      await commit(store, collection);
      shown.push(await everything(store, collection));
      expect(await rowsWithBytes(store, collection)).toBe(isPacked ? 0 : 4);
      expect(await objectsIn(folder)).toHaveLength(isPacked ? 1 : 0);
    }
    expect(shown[0]?.[0]).toMatchObject({ thumbnail: WEBP.toString(), outputs: outputsOf(1) });
    expect(shown[1]).toEqual(shown[0]);
  });

  it('from small or mostly unused objects are merged into one', async () => {
    const { store, collection, folder } = await openPacked(kind);
    for (let i = 0; i < 5; i++) await accept(store, collection, [withPicture(`d${i}`, i), withPicture(`e${i}`, i)]);
    await commit(store, collection);
    await accept(
      store,
      collection,
      Array.from({ length: 5 }, (_, i) => ({ kind: 'delete', id: `e${i}` })),
    );
    await commit(store, collection);
    const before = await everything(store, collection);
    expect(before).toHaveLength(5);
    for (let i = 0; i < 4; i++) await maintain(store);
    expect(await objectsIn(folder)).toHaveLength(1);
    expect(await everything(store, collection)).toEqual(before);
    const name = await objectsIn(folder);
    for (let i = 0; i < 2; i++) await maintain(store);
    // It is as small as possible: it is not rewritten repeatedly.
    expect(await objectsIn(folder)).toEqual(name);
  });
});

describe('outputs and thumbnails in objects', () => {
  it('of analyses are stored there too, in few objects if many end together', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    await accept(
      store,
      collection,
      Array.from({ length: 30 }, (_, i) => ({ id: `d${i}`, image: `http://images.example/${i}.jpg` })),
    );
    const tasks = await claimForAnalysis(store, 100);
    await Promise.all(tasks.map((task) => saveAnalysis(store, task, outputsOf(3), WEBP)));
    expect(await saveAnalysis(store, tasks[0] as (typeof tasks)[number], outputsOf(4), WEBP)).toBe(false);
    await commit(store, collection);
    const shown = await everything(store, collection);
    expect(shown).toHaveLength(30);
    expect(new Set(shown.map(({ outputs, thumbnail }) => `${outputs} ${thumbnail}`))).toEqual(
      new Set([`${outputsOf(3)} ${WEBP}`]),
    );
    expect(await rowsWithBytes(store, collection)).toBe(0);
    // Four start at once, and the others go together.
    expect((await objectsIn(folder)).length).toBeLessThanOrEqual(6);
  });

  it('stay with a document that an atomic update makes, after the previous one is gone', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    await accept(store, collection, [withPicture('a', 1)]);
    await commit(store, collection);
    const [before] = await everything(store, collection);
    await accept(store, collection, [{ id: 'a', title: { set: 'new' } }]);
    await commit(store, collection);
    for (let i = 0; i < 3; i++) await maintain(store);
    const [after] = await everything(store, collection);
    expect(after).toMatchObject({ outputs: before?.outputs, thumbnail: before?.thumbnail });
    expect(await objectsIn(folder)).toHaveLength(1);
  });

  it('are deleted after their documents, or with their collection, and not before', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    await accept(store, collection, [withPicture('a', 1)]);
    await accept(store, collection, [withPicture('b', 2)]);
    const other = await createCollection(store, 'other');
    await accept(store, other, [withPicture('c', 3)]);
    await commit(store, collection);
    expect(await objectsIn(folder)).toHaveLength(3);
    await accept(store, collection, [{ kind: 'delete', id: 'a' }]);
    await commit(store, collection);
    // Rows are removed first; then the pack is unreferenced; a while later it is deleted.
    for (let i = 0; i < 3; i++) await maintain(store);
    expect(await objectsIn(folder)).toHaveLength(2);
    await dropCollection(store, other);
    for (let i = 0; i < 2; i++) await maintain(store);
    expect(await objectsIn(folder)).toHaveLength(1);
    expect(await store.engine.query('select from akin.packs')).toHaveLength(1);
    expect(await everything(store, collection)).toMatchObject([{ outputs: outputsOf(2), thumbnail: WEBP.toString() }]);
  });

  it('are deleted although the objects of another collection cannot be checked', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    const other = await createCollection(store, 'other');
    for (const one of [collection, other]) {
      await accept(store, one, [withPicture('a', 1)]);
      await commit(store, one);
    }
    expect(await objectsIn(folder)).toHaveLength(2);
    await dropCollection(store, other);
    await store.engine.query(`alter table ${collection.sqlSchema}.outputs rename to away`);
    await expect(collectGarbage(store)).rejects.toThrow(/no longer exists/);
    await expect(collectGarbage(store)).rejects.toThrow(/no longer exists/);
    expect(await objectsIn(folder)).toHaveLength(1);
    await store.engine.query(`alter table ${collection.sqlSchema}.away rename to outputs`);
    expect(await collectGarbage(store)).toEqual({ deleted: 0, orphans: 0, rewritten: 0 });
  });

  it('are not asked for again for each collection while the bucket does not answer', async () => {
    const { store, collection } = await openPacked('postgres');
    for (const one of [collection, await createCollection(store, 'other')]) {
      await accept(store, one, [withPicture('a', 1)]);
      await commit(store, one);
      await dropCollection(store, one);
    }
    await collectGarbage(store);
    const objects = store.packs?.objects as NonNullable<Store['packs']>['objects'];
    const deleting = jest.spyOn(objects, 'delete').mockRejectedValue(objectStoreUnavailable(new Error('timeout')));
    await expect(collectGarbage(store)).rejects.toMatchObject({ code: 'unavailable' });
    expect(deleting).toHaveBeenCalledTimes(1);
  });

  it('block changes and commits while they are unreachable', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    await accept(store, collection, [withPicture('a', 1)]);
    await rename(folder, `${folder}-away`);
    open.push(() => rm(`${folder}-away`, { recursive: true, force: true }));
    await expect(accept(store, collection, [withPicture('b', 2)])).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 5,
    });
    await expect(commit(store, collection)).rejects.toMatchObject({ code: 'unavailable' });
    await rename(`${folder}-away`, folder);
    expect(await commit(store, collection)).toMatchObject({ applied: 1, failed: 0 });
    expect(await everything(store, collection)).toMatchObject([{ outputs: outputsOf(1) }]);
  });
});

describe('objects of a database', () => {
  it('without references are deleted when they are old, and other files of the folder stay', async () => {
    const { store, collection, folder } = await openPacked('postgres', { kept: 3_600_000 });
    await accept(store, collection, [withPicture('a', 1)]);
    const [own] = await objectsIn(folder);
    const orphan = (name: string) => path.join(path.dirname(own ?? ''), name);
    const [old, cut, fresh] = [
      orphan('0'.repeat(8) + own?.slice(-28)),
      `${own}.x.part`,
      orphan('1'.repeat(8) + own?.slice(-28)),
    ];
    for (const file of [old, cut, fresh]) await writeFile(file, 'x');
    await writeFile(path.join(folder, 'mine'), 'x');
    const long = new Date(Date.now() - 2 * 3_600_000);
    for (const file of [old, cut, own ?? '', path.join(folder, 'mine')]) await utimes(file, long, long);
    expect(await collectGarbage(store)).toBeUndefined();
    await store.engine.query(`update akin.object_store set garbage_collected_at = '-infinity'`);
    expect(await collectGarbage(store)).toEqual({ deleted: 0, orphans: 2, rewritten: 0 });
    expect((await objectsIn(folder)).sort()).toEqual([own, fresh].sort());
    expect(await readdir(folder)).toContain('mine');
  });

  it('that are lost fail only their change, and are reported as missing', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    await accept(store, collection, [withPicture('a', 1)]);
    const [lost] = await objectsIn(folder);
    await accept(store, collection, [withPicture('b', 2)]);
    await rm(lost ?? '');
    expect(await commit(store, collection)).toMatchObject({ applied: 1, failed: 1 });
    const [other] = await objectsIn(folder);
    await writeFile(other ?? '', 'cut');
    const question = { query: { kind: 'all' } as const, rows: 1 };
    expect((await search(store, collection, { ...question, fields: ['id'] })).hits).toHaveLength(1);
    await expect(search(store, collection, { ...question, fields: ['shape_descriptor'] })).rejects.toMatchObject({
      code: 'unavailable',
    });
    await expect((await readThumbnail(store, collection, 'b'))?.read()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('are required after their first use, and must be its own', async () => {
    const { store, collection, folder, location } = await openPacked('postgres');
    await accept(store, collection, [withPicture('a', 1)]);
    await store[Symbol.asyncDispose]();
    await expect(openTestStore(location)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('--objects'),
    });
    const empty = `${folder}-other`;
    open.push(() => rm(empty, { recursive: true, force: true }));
    await expect(openTestStore(location, 0, { objects: { location: empty } })).rejects.toMatchObject({
      code: 'conflict',
    });
    const another = await testLocation('postgres');
    open.push(another.remove);
    await expect(openTestStore(another.location, 0, { objects: { location: folder } })).rejects.toMatchObject({
      code: 'conflict',
    });
    // A copy of everything, like a backup.
    await cp(folder, empty, { recursive: true });
    await using restored = await openTestStore(location, 0, { objects: { location: empty } });
    await commit(restored, collection);
    expect(await everything(restored, collection)).toMatchObject([{ outputs: outputsOf(1) }]);
  });

  it('are set up by processes that start together', async () => {
    const { store, folder } = await openPacked('postgres', { isPacked: false });
    // So that each has its connection by then.
    let connected = 0;
    let resolve = () => {};
    const all = new Promise<void>((done) => {
      resolve = done;
    });
    const connect = async () => {
      if (++connected === 8) resolve();
      await all;
    };
    await Promise.all(Array.from({ length: 8 }, () => store.engine.transaction(connect)));
    await Promise.all(Array.from({ length: 8 }, () => openPacks(store.engine, folder)));
    expect(await store.engine.query('select from akin.object_store')).toHaveLength(1);
    expect((await openPacks(store.engine, folder))?.objects.location).toBe(folder);
  });

  it('can be restored with a backup of the database if they were copied after it', async () => {
    const { store, collection, folder, location } = await openPacked('pglite', { kept: 3_600_000 });
    if (!('folder' in location)) throw new Error('not a folder');
    await accept(store, collection, [withPicture('a', 1), withPicture('b', 2)]);
    await commit(store, collection);
    const before = await everything(store, collection);
    const file = path.join(folder, '..', `${path.basename(folder)}.backup`);
    const [copy, restoredTo] = [`${file}-objects`, `${file}-data`];
    open.push(async () => {
      for (const made of [file, copy, restoredTo]) await rm(made, { recursive: true, force: true });
    });
    await writeFile(file, await backup(store));
    await accept(store, collection, [{ kind: 'delete-by-query', query: '*:*' }]);
    await accept(store, collection, [withPicture('later', 3)]);
    await commit(store, collection);
    for (let i = 0; i < 3; i++) {
      await store.engine.query(`update akin.object_store set garbage_collected_at = '-infinity'`);
      await maintain(store);
    }
    await cp(folder, copy, { recursive: true });
    await restore(restoredTo, file);
    await using restored = await openTestStore({ folder: restoredTo }, 0, { objects: { location: copy } });
    expect(await everything(restored, collection)).toEqual(before);
  });

  it('contain new documents while old ones are in the database', async () => {
    const { store, collection, folder, location } = await openPacked('postgres', { isPacked: false });
    await accept(store, collection, [withPicture('a', 1)]);
    await commit(store, collection);
    await store[Symbol.asyncDispose]();
    await using packed = await openTestStore(location, 0, { objects: { location: folder } });
    await accept(packed, collection, [withPicture('b', 2)]);
    await commit(packed, collection);
    expect(await everything(packed, collection)).toMatchObject([
      { outputs: outputsOf(1), thumbnail: WEBP.toString() },
      { outputs: outputsOf(2), thumbnail: WEBP.toString() },
    ]);
    expect(await rowsWithBytes(packed, collection)).toBe(2);
  });

  it('stay with a collection that is reindexed, also those of pending changes', async () => {
    const { store, collection, folder } = await openPacked('postgres');
    await accept(store, collection, [withPicture('a', 1)]);
    // It fails when it is applied, and keeps its outputs.
    await accept(store, collection, [{ id: 'bad', import: 'no outputs' }]);
    expect(await commit(store, collection)).toMatchObject({ applied: 1, failed: 1 });
    const work = {
      holder: randomUUID(),
      allowMissing: false,
      signal: new AbortController().signal,
      wake: () => {},
      commit: async (name: string) => void (await commit(store, await findCollection(store, name))),
    };
    const target = await beginReindex(store, collection, work.holder, new Map());
    await runReindex(store, collection, target as Collection, work);
    for (let i = 0; i < 4; i++) await maintain(store);
    const now = await findCollection(store, 'shop');
    expect(now.id).not.toBe(collection.id);
    expect(await everything(store, now)).toMatchObject([{ outputs: outputsOf(1), thumbnail: WEBP.toString() }]);
    const rows = await store.engine.query<OutputsColumns>(
      `select json as outputs, pack, start, size from ${now.sqlSchema}.outputs join akin.packs using (pack)
        where collection = $1 order by doc`,
      [now.id],
    );
    expect((await readOutputs(store, rows)).sort()).toEqual(['no outputs', outputsOf(1)]);
    expect(await objectsIn(folder)).toHaveLength(1);
  });

  it('also belong to collections with several shards', async () => {
    const { store, collection, folder } = await openPacked('postgres', { shards: 3 });
    await accept(
      store,
      collection,
      Array.from({ length: 20 }, (_, i) => withPicture(`d${i}`, i)),
    );
    await commit(store, collection);
    expect(await everything(store, collection)).toHaveLength(20);
    await accept(store, collection, [{ kind: 'delete-by-query', query: '*:*' }]);
    await commit(store, collection);
    for (let i = 0; i < 3; i++) await maintain(store);
    expect(await objectsIn(folder)).toEqual([]);
  });
});
