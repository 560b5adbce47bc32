import { rename, rm } from 'node:fs/promises';
import { describe, expect, it, jest } from '@jest/globals';
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
import { accept, ENGINES } from '../../test/support.ts';
import { claimForAnalysis, saveAnalysis } from '../analyze/analysis.ts';
import { maintain } from '../bulk/maintain.ts';
import { createCollection, dropCollection } from '../collections/collections.ts';
import { commit } from '../commit/commit.ts';
import type { Store } from '../context.ts';
import { collectGarbage } from './collect-garbage.ts';
import { objectStoreUnavailable } from './object-store.ts';

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
    afterTest(() => rm(`${folder}-away`, { recursive: true, force: true }));
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
