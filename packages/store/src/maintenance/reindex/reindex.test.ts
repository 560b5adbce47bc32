import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { book, reindex, targetOf, workOf } from '../../../test/reindexing.ts';
import {
  accept,
  ENGINES,
  openTestStore,
  parseTestOutputs,
  testLocation,
  testOutputs,
  visible,
} from '../../../test/support.ts';
import { waitForOperations } from '../../changes/accept/operations.ts';
import type { Change } from '../../changes/accept/staged-rows.ts';
import { currentVersions } from '../../changes/accept/versions.ts';
import { claimForAnalysis, saveAnalysis } from '../../changes/analyze/analysis.ts';
import { commit } from '../../changes/commit/commit.ts';
import { createCollection, findCollection, listCollections } from '../../database/collections/collections.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { runReindex } from './run-reindex.ts';
import { beginReindex, orphanedReindexes, pauseReindex, reindexState, resumeReindex } from './state.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function emptyStore(kind: (typeof ENGINES)[number]) {
  const { location, remove } = await testLocation(kind);
  const store = await openTestStore(location);
  open.push(remove, async () => store[Symbol.asyncDispose]());
  return { store, location };
}

const gone = (id: string): Change => ({ kind: 'delete', id });

/** Outputs that the models of {@link olderBooks} accept. */
const version2 = (shape: readonly number[]) => testOutputs({ shape, names: ['v2'] });

/** A collection with outputs of the first version, in a store whose models are now of the second. */
async function olderBooks(kind: (typeof ENGINES)[number]) {
  const { store, location } = await emptyStore(kind);
  const old = await createCollection(store, 'books');
  const outputs = testOutputs({ shape: [1, 0, 0, 0] });
  await accept(store, old, [
    book('has', 1, { import: outputs, image: 'https://example.org/has.jpg' }),
    book('none', 2, { import: outputs }),
    book('plain', 3),
  ]);
  await commit(store, old);
  // Another version of the models.
  await store[Symbol.asyncDispose]();
  open.pop();
  const newer = await openTestStore(location, 0, {
    parseOutputs: (json) => {
      if (!json.includes('"v2"')) throw new AkinError('bad-request', 'These are of version 1.');
      return parseTestOutputs(json);
    },
  });
  open.push(async () => newer[Symbol.asyncDispose]());
  const collection = await findCollection(newer, 'books');
  const analyzeAll = async () => {
    for (const task of await claimForAnalysis(newer, 10)) {
      await saveAnalysis(newer, task, version2([0, 1, 0, 0]));
    }
  };
  const analyze = workOf(newer, analyzeAll, { wake: () => void analyzeAll().catch(() => {}) });
  return { newer, collection, analyze };
}

// On PGlite a test takes ten times the processor time with the same statements: the long cases are tested there.
describe.each(ENGINES)('a collection that is reindexed on %s', (kind) => {
  it('has all documents, with new types, and concurrent changes in their order', async () => {
    const { store } = await emptyStore(kind);
    const old = await createCollection(store, 'books');
    const outputs = testOutputs({ shape: [1, 0, 0, 0], names: ['red'] });
    const many = Array.from({ length: 700 }, (_, i) => book(`d${i}`, i, { import: outputs, labels: ['a', 'b'] }));
    await accept(store, old, many);
    await commit(store, old);
    let round = 0;
    const work = workOf(store, async (name) => {
      // During the copy, and once more before changes are blocked: replaced, deleted, deleted by query, added.
      if (name === 'books' || round > 1) return;
      round++;
      await accept(store, old, [book(`d${round}`, -round), gone(`d${100 + round}`), book(`new${round}`, round)]);
      await accept(store, old, [
        { kind: 'delete-by-query', query: `value:${200 + round}` },
        book(`d${300 + round}`, -1),
      ]);
      await commit(store, old);
    });
    const rebuilt = await reindex(store, old, work, new Map([['value', 'string']]));
    expect(rebuilt.id).not.toBe(old.id);
    expect((await loadSchema(store, rebuilt)).fields.get('value')?.type).toBe('string');
    const found = new Map((await visible(store, rebuilt, 'value')) as [string, string][]);
    expect(round).toBe(2);
    expect(found.size).toBe(700 - 2 - 2 + 2);
    expect(['d1', 'd2', 'd50', 'd102', 'd201', 'new2', 'd302'].map((id) => found.get(id))).toEqual([
      '-1',
      '-2',
      '50',
      undefined,
      undefined,
      '2',
      '-1',
    ]);
    expect((await reindexState(store, 'books'))?.state).toBe('done');
    expect((await listCollections(store)).map(({ name }) => name)).toEqual(['books', 'my-collection']);
    const [counted] = await store.engine.query<{ rows: bigint }>(
      `select count(*) as rows from ${rebuilt.sqlSchema}.descriptors_shape v join ${rebuilt.sqlSchema}.documents d using (doc)
        where d.valid_to > 1000000`,
    );
    expect(counted?.rows).toBe(692n);
  });

  onPostgres(kind, it)(
    'analyzes pictures again if the models do not accept the outputs, and does not change if one is missing',
    async () => {
      const { newer, collection, analyze } = await olderBooks(kind);
      await expect(reindex(newer, collection, analyze)).rejects.toThrow(/1 document cannot be copied/);
      expect((await findCollection(newer, 'books')).id).toBe(collection.id);
      expect(await visible(newer, collection)).toEqual(['has', 'none', 'plain']);
      const failed = await reindexState(newer, 'books');
      expect([failed?.state, failed?.missing.map(({ id }) => id)]).toEqual(['failed', ['none']]);
      expect((await listCollections(newer)).map(({ name }) => name)).toEqual(['books', 'my-collection']);

      // Started again after the failure, without the picture.
      const again = { ...analyze, holder: randomUUID(), allowMissing: true };
      const rebuilt = await reindex(newer, collection, again);
      expect(await visible(newer, rebuilt)).toEqual(['has', 'none', 'plain']);
      const described = await newer.engine.query<{ id: string }>(
        `select d.id from ${rebuilt.sqlSchema}.documents d join ${rebuilt.sqlSchema}.descriptors_shape v using (doc)`,
      );
      expect(described).toEqual([{ id: 'has' }]);
    },
  );

  it('continues where its process stopped, with later changes', async () => {
    const { newer, collection, analyze } = await olderBooks(kind);
    const stop = new AbortController();
    const first = { ...workOf(newer, async () => stop.abort(new Error('the process ends'))), signal: stop.signal };
    const reanalyze = async () => ({ outputs: version2([0, 0, 0, 1]), fromThumbnail: true });
    await expect(reindex(newer, collection, { ...first, reanalyze })).rejects.toThrow('the process ends');
    expect(await reindexState(newer, 'books')).toMatchObject({ alive: false, copied: 3, pending: 1 });
    // In the meantime: removed, changed, new.
    await accept(newer, collection, [gone('plain'), book('new', 4, { field: 'that is new, too' })]);
    await accept(newer, collection, [book('none', 5, { import: version2([1, 0, 0, 0]) })]);
    await commit(newer, collection);

    expect(await orphanedReindexes(newer)).toEqual(['books']);
    const begun = await resumeReindex(newer, collection, analyze.holder);
    if (begun === undefined) throw new Error('nothing to go on with');
    expect([await orphanedReindexes(newer), await resumeReindex(newer, collection, 'late')]).toEqual([[], undefined]);
    let asked = 0;
    const again = async () => {
      asked++;
      return undefined;
    };
    await runReindex(newer, collection, begun.target, { ...analyze, reanalyze: again });
    const whole = await findCollection(newer, 'books');
    expect(whole.id).toBe(begun.target.id);
    expect(await visible(newer, whole, 'value')).toEqual([
      ['has', 1n],
      ['new', 4n],
      ['none', 5n],
    ]);
    // Copied documents are not copied again.
    expect(asked).toBe(0);
    expect(await reindexState(newer, 'books')).toMatchObject({
      state: 'done',
      analyzed: 2,
      thumbnails: 1,
      missing: [],
    });
  });
});

describe('a collection that is reindexed', () => {
  it('keeps the versions of documents, and checks later changes against them', async () => {
    const { store } = await emptyStore('postgres');
    const old = await createCollection(store, 'books');
    await accept(store, old, [book('a', 1), book('b', 1), book('c', 1), book('gone', 1)]);
    await accept(store, old, [book('a', 2), gone('gone')]);
    await commit(store, old);
    // Pending during the swap: a picture, and an atomic update after it.
    await accept(store, old, [book('late', 1, { image: 'https://example.org/late.jpg' })]);
    await accept(store, old, [{ id: 'late', value: { inc: 1 } }]);
    let round = 0;
    const work = workOf(store, async (name) => {
      // During the copy: an atomic update with the version that it must have.
      if (name === 'books' || round++ > 0) return;
      await accept(store, old, [{ id: 'b', value: { inc: 5 }, _version_: 2 }, book('new', 1, { _version_: -1 })]);
      await commit(store, old);
    });
    const ids = ['a', 'b', 'c', 'late', 'new', 'gone'];
    const versions = { a: 5n, b: 9n, c: 3n, late: 8n, new: 10n };
    const rebuilt = await reindex(store, old, work);
    expect(rebuilt.id).not.toBe(old.id);
    expect(Object.fromEntries(await currentVersions(store, rebuilt, ids))).toEqual(versions);
    for (const stale of [
      book('b', 0, { _version_: 2 }),
      book('gone', 0, { _version_: 1 }),
      book('c', 0, { _version_: -1 }),
    ]) {
      await expect(accept(store, rebuilt, [stale])).rejects.toMatchObject({ code: 'conflict' });
    }
    const next = await accept(store, rebuilt, [
      { id: 'b', value: { inc: 1 }, _version_: 9 },
      book('c', 7, { _version_: 3 }),
    ]);
    for (const task of await claimForAnalysis(store, 10)) {
      await saveAnalysis(store, task, testOutputs({ shape: [0, 1, 0, 0] }));
    }
    await commit(store, rebuilt);
    await waitForOperations(store, rebuilt, { first: 1, last: next.last }, { until: 'visible' });
    expect(await visible(store, rebuilt, 'value')).toEqual([
      ['a', 2n],
      ['b', 7n],
      ['c', 7n],
      ['late', 2n],
      ['new', 1n],
    ]);
    const last = BigInt(next.last);
    expect(Object.fromEntries(await currentVersions(store, rebuilt, ids))).toEqual({
      ...versions,
      b: last - 1n,
      c: last,
    });
  });

  it('fails after a long interruption, because commits may have removed what it still has to read', async () => {
    const { store } = await emptyStore('postgres');
    const old = await createCollection(store, 'books');
    await accept(store, old, [book('a', 1)]);
    await commit(store, old);
    const work = workOf(store, async () => {
      await store.engine.query("update akin.pins set expires_at = now() - interval '1 second'");
    });
    await expect(reindex(store, old, work)).rejects.toThrow('interrupted for more than ten minutes');
    expect(await visible(store, await findCollection(store, 'books'))).toEqual(['a']);
  });

  it('takes outputs by their ids from another collection if its own are invalid', async () => {
    const { newer, collection, analyze } = await olderBooks('postgres');
    const pictures = await createCollection(newer, 'books.pictures');
    await accept(newer, pictures, [
      { id: 'none', import: version2([0, 0, 1, 0]), note: 'stays where it is' },
      { id: 'stranger', import: version2([0, 0, 0, 1]) },
    ]);
    await commit(newer, pictures);
    const whole = await reindex(newer, collection, { ...analyze, outputsFrom: pictures });
    expect(await visible(newer, whole, 'value')).toEqual([
      ['has', 1n],
      ['none', 2n],
      ['plain', 3n],
    ]);
    expect((await loadSchema(newer, whole)).fields.has('note')).toBe(false);
    const vectors = await newer.engine.query<{ id: string; vector: string }>(
      `select d.id, v.vector::text as vector from ${whole.sqlSchema}.documents d
         join ${whole.sqlSchema}.descriptors_shape v using (doc) order by d.id`,
    );
    expect(vectors).toEqual([
      { id: 'has', vector: '[0,1,0,0]' },
      { id: 'none', vector: '[0,0,1,0]' },
    ]);
  });

  it('queues no pictures while it is paused, and cannot be started again', async () => {
    const { newer, collection, analyze } = await olderBooks('postgres');
    let pausing = true;
    const work = workOf(newer, async () => {
      if (pausing) expect(await pauseReindex(newer, collection)).toBe(true);
      pausing = false;
    });
    const reanalyze = async () => undefined;
    await reindex(newer, collection, { ...work, allowMissing: true, reanalyze });
    expect(await reindexState(newer, 'books')).toMatchObject({ state: 'paused', alive: false, pending: 1 });
    expect(await claimForAnalysis(newer, 10)).toEqual([]);
    expect(await beginReindex(newer, collection, 'another', new Map())).toBeUndefined();
    expect(await orphanedReindexes(newer)).toEqual([]);
    const begun = await resumeReindex(newer, collection, analyze.holder);
    if (begun === undefined) throw new Error('nothing to go on with');
    await runReindex(newer, collection, begun.target, { ...analyze, allowMissing: true });
    expect(await visible(newer, await findCollection(newer, 'books'))).toEqual(['has', 'none', 'plain']);
    expect(await pauseReindex(newer, collection)).toBe(false);
  });

  it('is started once, and again after its process is gone', async () => {
    const { store } = await emptyStore('postgres');
    const old = await createCollection(store, 'books');
    await accept(store, old, [book('a', 1)]);
    await commit(store, old);
    await targetOf(store, old);
    expect(await beginReindex(store, old, 'second', new Map())).toBeUndefined();
    await store.engine.query(`update akin.reindexes set heartbeat_at = now() - interval '1 minute'`);
    expect(await visible(store, await reindex(store, old))).toEqual(['a']);
    expect((await listCollections(store)).map(({ name }) => name)).toEqual(['books', 'my-collection']);
    await store.engine.query(
      `update akin.collections set replaced_at = now() - interval '1 hour' where replaced_at is not null`,
    );
    await maintain(store);
    expect(await store.engine.query('select name from akin.collections order by 1')).toHaveLength(2);
  });
});
