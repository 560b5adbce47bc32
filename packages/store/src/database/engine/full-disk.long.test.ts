import { join } from 'node:path';
import { type SmallDisk, smallDisk } from '@akin/testing';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { accept, copyTestStore, openTestStore, visible } from '../../../test/support.ts';
import { claimForAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection, findCollection } from '../collections/collections.ts';
import type { Collection } from '../context.ts';

let disk: SmallDisk;
let store: Store;
let collection: Collection;
const warnings: string[] = [];

beforeEach(async () => {
  disk = await smallDisk(200);
  const folder = join(disk.folder, 'data');
  await copyTestStore(folder);
  store = await openTestStore({ folder, warn: (text) => warnings.push(text) });
  collection = await findCollection(store, 'my-collection');
});
afterEach(async () => {
  await store?.[Symbol.asyncDispose]();
  await disk?.[Symbol.asyncDispose]();
});

const refused = (message: RegExp) => ({
  code: 'unavailable',
  retryAfterSeconds: expect.any(Number),
  message: expect.stringMatching(message),
});

it('refuses changes while the disk is nearly full, still searches, and continues when there is space', async () => {
  await accept(store, collection, [{ id: 'a' }]);
  await commit(store, collection);
  await accept(store, collection, [{ id: 'b' }, { id: 'c', image: 'http://pictures.example/c.jpg' }]);
  await disk.fill();
  const nearlyFull = /has only \S+ MB free.*while 26 MB are free: free some space/;
  for (const work of [
    () => accept(store, collection, [{ id: 'd' }]),
    () => accept(store, collection, [{ kind: 'delete', id: 'a' }]),
    () => createCollection(store, 'other'),
    // Accepted changes wait.
    () => commit(store, collection),
    () => claimForAnalysis(store, 10),
  ]) {
    await expect(work()).rejects.toMatchObject(refused(nearlyFull));
  }
  expect(await store.engine.disk?.warning()).toMatch(nearlyFull);
  expect(await visible(store, collection)).toEqual(['a']);

  await disk.empty();
  await accept(store, collection, [{ id: 'd' }]);
  await commit(store, collection);
  expect(await visible(store, collection)).toEqual(['a', 'b', 'd']);
  expect(await claimForAnalysis(store, 10)).toMatchObject([{ id: 'c', attempt: 1 }]);
  expect(warnings).toEqual([expect.stringMatching(nearlyFull), expect.stringContaining('changes are accepted')]);
});

it('says that the disk is full if a database cannot be created on it, and leaves nothing there', async () => {
  await disk.fill();
  const location = { folder: join(disk.folder, 'new') };
  const full = { code: 'unavailable', message: expect.stringMatching(/is full/) };
  await expect(openTestStore(location)).rejects.toMatchObject(full);
  await disk.empty();
  await (await openTestStore(location))[Symbol.asyncDispose]();
});

it('fails a statement on a full disk with the reason, continues, and loses nothing', async () => {
  const { engine } = store;
  await engine.query('create table churned (n int, text text) with (fillfactor = 50)');
  await engine.query(`insert into churned select n, repeat('x', 1000) from generate_series(1, 100) n`);
  await accept(store, collection, [{ id: 'a' }]);
  await disk.fill();
  // Updating rows in place needs more and more of the write-ahead log, until there is no space for it.
  let done = 0;
  const churn = async (): Promise<unknown> => {
    for (;;) {
      try {
        await engine.query(`update churned set text = text || 'y' where n = 1 + $1 % 100`, [done]);
        done++;
      } catch (error) {
        return error;
      }
    }
  };
  expect(await churn()).toMatchObject(refused(/disk of the database is full: free some space, or enlarge the disk/));
  await disk.resize(400);
  const [row] = await engine.query<{ changes: number }>('select sum(length(text) - 1000)::int as changes from churned');
  expect([done, done + 1]).toContain(row?.changes);
  await commit(store, collection);
  expect(await visible(store, collection)).toEqual(['a']);
});
