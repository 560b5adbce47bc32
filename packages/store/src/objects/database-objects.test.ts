import { randomUUID } from 'node:crypto';
import { cp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import {
  afterTest,
  everything,
  objectsIn,
  openPacked,
  outputsOf,
  rowsWithBytes,
  WEBP,
  withPicture,
} from '../../test/packed.ts';
import { accept, openTestStore, testLocation } from '../../test/support.ts';
import { maintain } from '../bulk/maintain.ts';
import { findCollection } from '../collections/collections.ts';
import { commit } from '../commit/commit.ts';
import type { Collection } from '../context.ts';
import { runReindex } from '../reindex/run-reindex.ts';
import { beginReindex } from '../reindex/state.ts';
import { readThumbnail } from '../search/read.ts';
import { search } from '../search/search.ts';
import { backup, restore } from '../store.ts';
import { collectGarbage } from './collect-garbage.ts';
import { openPacks } from './open-packs.ts';
import { type OutputsColumns, readOutputs } from './packed-rows.ts';

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
    afterTest(() => rm(empty, { recursive: true, force: true }));
    await expect(openTestStore(location, 0, { objects: { location: empty } })).rejects.toMatchObject({
      code: 'conflict',
    });
    const another = await testLocation('postgres');
    afterTest(another.remove);
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
    afterTest(async () => {
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
