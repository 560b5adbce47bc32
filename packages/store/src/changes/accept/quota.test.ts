import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { reindex, workOf } from '../../../test/reindexing.ts';
import { accept, ENGINES, remove, removeMatching, testOutputs } from '../../../test/support.ts';
import { collectionStatus, createCollection, findCollection } from '../../database/collections/collections.ts';
import { NO_QUOTA, type Quota, setQuota } from '../../database/collections/quota.ts';
import type { Collection } from '../../database/context.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { claimForAnalysis, failAnalysis } from '../analyze/analysis.ts';
import { commit } from '../commit/commit.ts';
import type { Store } from '../context.ts';

const some = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ id: `d${from + i}` }));

describe.each(ENGINES)('quotas on %s', (kind) => {
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  const limit = (quota: Partial<Quota>) => setQuota(store, collection, { ...NO_QUOTA, ...quota });
  /** The outcome of a request. */
  const send = (...changes: object[]) =>
    accept(store, collection, changes).then(
      () => 'accepted',
      (error) => error.code,
    );
  const full = 'quota-exceeded';
  const status = () => collectionStatus(store, collection);

  it('count documents that are accepted and not visible', async () => {
    await limit({ maxDocuments: 5 });
    expect(await send(...some(0, 3))).toBe('accepted');
    expect(await send(...some(3, 6))).toBe(full);
    expect(await send(...some(3, 5))).toBe('accepted');
    expect(await send({ id: 'one more' })).toBe(full);
    await commit(store, collection);
    expect(await send({ id: 'one more' })).toBe(full);
    expect((await status()).documents).toBe(5);
  });

  it('accept updates at the limit, visible or not, and count each document once', async () => {
    await limit({ maxDocuments: 3 });
    expect(await send({ id: 'a' }, { id: 'a', n: 1 }, { id: 'b' })).toBe('accepted');
    expect(await send({ id: 'a', n: 2 }, { id: 'b', n: 2 }, { id: 'c' })).toBe('accepted');
    expect(await send({ id: 'b', n: 3 }, { id: 'c', n: 3 })).toBe('accepted');
    await commit(store, collection);
    expect(await send({ id: 'b', n: 4 }, { id: 'c', n: { inc: 4 } })).toBe('accepted');
    expect(await send({ id: 'b', n: 5 }, { id: 'd' })).toBe(full);
    // Below the present number.
    await limit({ maxDocuments: 1 });
    expect([await send({ id: 'a', n: 6 }), await send({ id: 'd' })]).toEqual(['accepted', full]);
    await limit({});
    expect(await send({ id: 'd' })).toBe('accepted');
    await commit(store, collection);
    expect((await status()).documents).toBe(4);
  });

  it('are named in the message, one document without a plural', async () => {
    const message = async (quota: Partial<Quota>) => {
      await limit(quota);
      return accept(store, collection, some(0, 3)).then(String, String);
    };
    expect(await message({ maxDocuments: 2 })).toMatch(/ may have 2 documents, /);
    expect(await message({ maxDocuments: 1 })).toMatch(/ may have 1 document, /);
    expect(await message({ maxBytes: 1 })).toMatch(/ may have 1 byte, /);
  });

  it('always accept deletes, which free space when they are applied', async () => {
    await limit({ maxDocuments: 3 });
    await send(...some(0, 3));
    await commit(store, collection);
    await limit({ maxDocuments: 2, maxBytes: 0 });
    expect(await send(remove('d0'), removeMatching('id:d1'))).toBe('accepted');
    await limit({ maxDocuments: 2 });
    expect(await send({ id: 'x' })).toBe(full);
    await commit(store, collection);
    expect(await send({ id: 'x' }, { id: 'y' })).toBe(full);
    expect(await send({ id: 'x' })).toBe('accepted');
    await commit(store, collection);
    expect((await status()).documents).toBe(2);
  });

  it('apply to concurrent requests', async () => {
    await limit({ maxDocuments: 10 });
    const ends = await Promise.all(Array.from({ length: 8 }, (_, i) => send(...some(3 * i, 3 * i + 3))));
    expect(ends.filter((end) => end === 'accepted')).toHaveLength(3);
    expect(new Set(ends)).toEqual(new Set(['accepted', full]));
  });

  it('do not count failed documents, or a document twice while others of its request wait', async () => {
    await limit({ maxDocuments: 3 });
    const image = 'http://127.0.0.1:1/no.png';
    expect(await send({ id: 'a' }, { id: 'b', image })).toBe('accepted');
    await commit(store, collection);
    expect(await send({ id: 'c' }, { id: 'd' })).toBe(full);
    expect(await send({ id: 'c' })).toBe('accepted');
    for (const task of await claimForAnalysis(store, 10)) {
      await failAnalysis(store, task, { code: 'image-unreachable', msg: 'gone' });
    }
    expect(await send({ id: 'd' })).toBe('accepted');
    await commit(store, collection);
    expect((await status()).documents).toBe(3);
  });

  it('count bytes of values, outputs and thumbnails, which are freed with their documents', async () => {
    const outputs = testOutputs({ shape: [1, 0, 0, 0] });
    const text = 'é'.repeat(1_000);
    await send({ id: 'a', text1: text }, { id: 'b', import: outputs });
    await commit(store, collection);
    const { bytes } = await status();
    expect(bytes).toBeGreaterThan(2_010);
    expect(bytes).toBeLessThan(2_100);
    // The same document twice, so that its row is there once.
    await send({ id: 'a', text1: text });
    await commit(store, collection);
    expect((await status()).bytes).toBe(bytes);
    await send({ id: 'b', n: { set: 5 } });
    await commit(store, collection);
    expect((await status()).bytes).toBe(bytes + 8);

    await limit({ maxBytes: bytes + 1_500 });
    expect(await send({ id: 'c', text1: 'x'.repeat(800) })).toBe('accepted');
    expect(await send({ id: 'd', text1: 'x'.repeat(800) })).toBe(full);
    await commit(store, collection);
    expect(await send({ id: 'd', text1: 'x'.repeat(800) })).toBe(full);
    await send(remove('a'), removeMatching('id:c'));
    await commit(store, collection);
    expect(await send({ id: 'd', text1: 'x'.repeat(800) })).toBe('accepted');
    await send(removeMatching('*:*'));
    await commit(store, collection);
    expect(await status()).toMatchObject({ documents: 0, bytes: 0 });
  });

  it('belong to a collection from its creation on, and survive a reindex', async () => {
    const quota = { maxDocuments: 4, maxBytes: 1_000_000 };
    const made = await createCollection(store, `made-${kind}`, { shards: 3 }, quota);
    await accept(store, made, some(0, 4));
    await commit(store, made);
    const before = await collectionStatus(store, made);
    expect(before.quota).toEqual(quota);
    await reindex(store, made, workOf(store), new Map(), { shards: 2 });
    const other = await findCollection(store, made.name);
    const after = await collectionStatus(store, other);
    expect([after.shards, after.documents, after.bytes, after.quota]).toEqual([2, 4, before.bytes, quota]);
    await expect(accept(store, other, [{ id: 'new' }])).rejects.toMatchObject({ code: full });
    await dropCollection(store, other);
  });
});
