import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { maintain } from '../../../test/maintain.ts';
import { reindex, workOf } from '../../../test/reindexing.ts';
import { accept, ENGINES, remove, removeMatching, visible } from '../../../test/support.ts';
import { findCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';
import { listTombstones } from './tombstones.ts';

const of = (id: string, modified = '2026-01-02T03:04:05Z', bytes = 10) => ({ id, source: '/photos', modified, bytes });
const buried = (id: string, modified = '2026-01-02T03:04:05Z', bytes = 10n) => ({
  id,
  source: '/photos',
  modified: new Date(modified),
  bytes,
  path: id,
  hash: undefined,
});

describe.each(ENGINES)('tombstones on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const { reopen } = freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });
  const all = async (of = collection) => (await listTombstones(store, of, { limit: 10_000 })).tombstones;
  const ids = async () => (await all()).map(({ id }) => id);
  const change = async (
    ...args: Parameters<typeof accept> extends [unknown, unknown, ...infer Rest] ? Rest : never
  ) => {
    await accept(store, collection, ...args);
    await commit(store, collection);
  };

  it('are written by deletes of documents from files, by id and by query, and by nothing else', async () => {
    await change([of('a'), of('b'), of('c'), { id: 'shop', source: 'import' }, { id: 'plain' }]);
    await change([remove('a'), remove('shop'), remove('unknown'), removeMatching('id:b OR id:plain')]);
    expect(await all()).toEqual([buried('a'), buried('b')]);
    await change([of('c', '2026-05-05T00:00:00Z')]);
    expect(await ids()).toEqual(['a', 'b']);
    await reopen();
    expect(await ids()).toEqual(['a', 'b']);
  });

  itOnPostgres('keep path and hash of the file, also of a document that was never visible', async () => {
    const moved = (id: string) => ({ ...of(id), path: `new/${id}`, file_hash: 7 });
    await change([moved('a'), moved('late'), remove('late')]);
    await change([remove('a')]);
    const expected = (id: string) => ({ ...buried(id), path: `new/${id}`, hash: 7n });
    expect(await all()).toEqual([expected('a'), expected('late')]);
  });

  itOnPostgres('are not written for a client that wants none', async () => {
    await change([of('a'), of('b'), of('c')]);
    await change([remove('a'), removeMatching('id:b')], { tombstones: false });
    expect(await visible(store, collection)).toEqual(['c']);
    expect(await all()).toEqual([]);
  });

  itOnPostgres('describe the file of the last document before the delete, even if it was never visible', async () => {
    await change([of('a'), of('b')]);
    await change([
      of('a', '2026-05-05T00:00:00Z', 20),
      remove('a'),
      of('new'),
      remove('new'),
      { id: 'b' },
      remove('b'),
    ]);
    expect(await all()).toEqual([buried('a', '2026-05-05T00:00:00Z', 20n), buried('b'), buried('new')]);
    await change([of('late'), removeMatching('id:late')]);
    expect(await ids()).toEqual(['a', 'b', 'late', 'new']);
  });

  itOnPostgres('are removed when the document is stored again, also in the same commit', async () => {
    await change([of('a'), of('b'), of('c')]);
    await change([remove('a'), remove('b'), remove('c'), of('c')]);
    expect(await ids()).toEqual(['a', 'b']);
    await change([{ id: 'a', title: 'stored by hand' }]);
    expect(await ids()).toEqual(['b']);
  });

  itOnPostgres('are removed when the collection is emptied, except later ones', async () => {
    await change([of('a'), of('b'), of('c')]);
    await change([remove('a'), removeMatching('id:b')]);
    await change([removeMatching('*:*'), of('d'), remove('d')]);
    expect(await ids()).toEqual(['d']);
    await change([removeMatching('*:*')], { tombstones: false });
    expect(await all()).toEqual([]);
  });

  it('are limited to the newest million by housekeeping', async () => {
    await change([of('a'), of('b'), of('c')]);
    await change([remove('a')]);
    await store.engine.query(`alter table ${collection.sqlSchema}.tombstones alter column number restart with 1000001`);
    await change([remove('b')]);
    expect(await ids()).toEqual(['a', 'b']);
    await maintain(store, [collection]);
    expect(await ids()).toEqual(['b']);
    await change([remove('c')]);
    await maintain(store, [collection]);
    expect(await ids()).toEqual(['b', 'c']);
  });

  itOnPostgres('are listed in pages', async () => {
    await change(['a', 'b', 'c'].map((id) => of(id)));
    await change([removeMatching('id:*')]);
    const first = await listTombstones(store, collection, { limit: 2 });
    expect([first.tombstones.map(({ id }) => id), first.next]).toEqual([['a', 'b'], 'b']);
    const last = await listTombstones(store, collection, { limit: 2, after: first.next });
    expect([last.tombstones.map(({ id }) => id), last.next]).toEqual([['c'], undefined]);
  });

  itOnPostgres('are copied when the collection is reindexed', async () => {
    await change([of('a'), of('b'), of('c'), of('d')]);
    await change([remove('a')]);
    let round = 0;
    const work = workOf(store, async (name) => {
      // During the copy: one was deleted on purpose, one because its file no longer exists.
      if (name === collection.name || round++ > 0) return;
      await accept(store, collection, [remove('b')]);
      await accept(store, collection, [remove('c')], { tombstones: false });
      await commit(store, collection);
    });
    await reindex(store, collection, work);
    const renewed = await findCollection(store, collection.name);
    expect(renewed.id).not.toBe(collection.id);
    expect(await visible(store, renewed)).toEqual(['d']);
    expect(await all(renewed)).toEqual([buried('a'), buried('b')]);
    collection = renewed;
    await change([remove('d')]);
    expect(await ids()).toEqual(['a', 'b', 'd']);
  });

  it('are written once by a commit that is interrupted and continued', async () => {
    await change(Array.from({ length: 50 }, (_, i) => of(`d${i}`)));
    const S = collection.sqlSchema;
    await accept(store, collection, [remove('d1'), removeMatching('id:d2*')]);
    await store.engine.query(
      `create function ${S}.die() returns trigger language plpgsql as 'begin raise exception ''killed''; end'`,
    );
    await store.engine.query(
      `create trigger die before update of commit on akin.collections for each row when (new.commit <> old.commit and new.id = ${collection.id}) execute function ${S}.die()`,
    );
    await expect(commit(store, collection)).rejects.toMatchObject({ code: 'internal' });
    await store.engine.query('drop trigger die on akin.collections');
    await reopen();
    await commit(store, collection);
    expect(await ids()).toEqual(['d1', 'd2', ...Array.from({ length: 10 }, (_, i) => `d2${i}`)]);
  });
});
