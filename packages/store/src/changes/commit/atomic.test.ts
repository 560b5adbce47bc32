import { stringifyJson } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { maintain } from '../../../test/maintain.ts';
import { accept, ENGINES, remove, removeMatching, testOutputs } from '../../../test/support.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { exportDocuments } from '../../search/export/export-documents.ts';
import { readThumbnail } from '../../search/read.ts';
import { findOperation, listOperations, waitForOperations } from '../accept/operations.ts';
import { claimForAnalysis, failAnalysis, saveAnalysis } from '../analyze/analysis.ts';
import { retryFailed } from '../analyze/retry.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

const url = (name: string) => `http://images.example/${name}.jpg`;
const OUTPUTS = testOutputs({ shape: [1, 0, 0, 0], names: ['red'] });
const OTHERS = testOutputs({ shape: [0, 0, 0, 1], names: ['blue'] });

describe.each(ENGINES)('atomic updates on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const { reopen } = freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  const send = (...changes: object[]) => accept(store, collection, changes);
  /** The documents of the last commit by id, in the form in which they could be sent again. */
  const shown = async () => {
    const request = { query: { kind: 'all' } as const, filters: [], rows: 100, bytes: 1e9 };
    const { documents } = await exportDocuments(store, collection, request);
    return Object.fromEntries(
      documents.map(({ fields, outputs }) => {
        const { id, ...others } = JSON.parse(stringifyJson(fields));
        return [
          id,
          { ...others, ...(outputs === null ? {} : { outputs: outputs.includes('"red"') ? 'own' : 'others' }) },
        ];
      }),
    );
  };
  const states = async () => {
    const { operations } = await listOperations(store, collection, { limit: 100 });
    return operations.map(({ state }) => state);
  };
  const claim = () => claimForAnalysis(store, 100);

  it('change single fields of a document that is visible, and keep its picture', async () => {
    await send({
      id: 'a',
      import: OUTPUTS,
      thumbnail: WEBP,
      image: 'a.jpg',
      n: 1,
      labels: ['x'],
      location: '1,2',
      old: 'o',
    });
    await commit(store, collection);
    await send({
      id: 'a',
      n: { inc: 2 },
      labels: { add: ['y', 'x'], remove: 'x' },
      title: { set: 'new' },
      old: { set: null },
    });
    await commit(store, collection);
    expect(await shown()).toEqual({
      a: { image: 'a.jpg', n: 3, labels: ['y'], location: { lat: 1, lon: 2 }, title: 'new', outputs: 'own' },
    });
    expect((await readThumbnail(store, collection, 'a'))?.bytes).toEqual(Buffer.from(WEBP, 'base64'));
    const S = collection.sqlSchema;
    const [row] = await store.engine.query(
      `select d.tint_names, v.vector::text as vector from ${S}.documents d join ${S}.descriptors_shape v using (doc)
        where d.valid_to = 9223372036854775807`,
    );
    expect(row).toEqual({ tint_names: ['red'], vector: '[1,0,0,0]' });
    expect((await collectionStatus(store, collection)).documents).toBe(1);
    await maintain(store);
    expect(await store.engine.query(`select 1 from ${S}.descriptors_shape`)).toHaveLength(1);
  });

  itOnPostgres('apply in accepted order to earlier changes, in one request and over several', async () => {
    await send({ id: 'a', n: 1 }, { id: 'a', n: { inc: 1 } }, { id: 'b', n: { inc: 5 } }, { id: 'a', n: { inc: 1 } });
    await send({ id: 'a', n: { inc: 1 } }, remove('b'), { id: 'b', m: { set: 1 } });
    await send({ id: 'a', n: { inc: 1 } }, { id: 'c', n: 7 }, removeMatching('n:7'), { id: 'c', m: { set: 2 } });
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { n: 5 }, b: { m: 1 }, c: { m: 2 } });
    await send({ id: 'a', n: 100 }, { id: 'a', n: { inc: -200 } }, { id: 'c', m: { set: null } });
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { n: -100 }, b: { m: 1 }, c: {} });
  });

  itOnPostgres('fail alone if a number gets too large, as if they had never been sent', async () => {
    await send({ id: 'big', d: 1.7e308 }, { id: 'big', d: { inc: 1.7e308 } }, { id: 'big', e: { set: 1 } });
    await commit(store, collection);
    expect((await shown()).big).toEqual({ d: 1.7e308, e: 1 });
    await maintain(store);
    const failed = await listOperations(store, collection, { state: 'failed', limit: 10 });
    expect(failed.operations).toMatchObject([{ id: 'big', position: 1, error: { code: 'bad-request' } }]);
  });

  it('wait for the analysis of their document, while everything else continues', async () => {
    await send({ id: 'a', image: url('slow'), n: 1 });
    const update = await send({ id: 'a', n: { inc: 1 } }, { id: 'b', n: { inc: 1 } });
    await commit(store, collection);
    expect(await shown()).toEqual({ b: { n: 1 } });
    expect(await states()).toEqual(['queued', 'ready', 'visible']);
    let done = false;
    const waiting = waitForOperations(store, collection, update).then(() => {
      done = true;
    });
    await reopen();
    const [task] = await claim();
    expect(done).toBe(false);
    if (task) await saveAnalysis(store, task, OUTPUTS);
    await waitForOperations(store, collection, update);
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { image: url('slow'), n: 2, outputs: 'own' }, b: { n: 1 } });
    await waiting.catch(() => {});
    expect(await states()).toEqual(['superseded', 'visible', 'visible']);
  });

  itOnPostgres('ignore a failed predecessor', async () => {
    await send({ id: 'a', n: 1, t: 'old' });
    await commit(store, collection);
    await send({ id: 'a', image: url('broken'), n: 10, t: 'new' }, { id: 'a', n: { inc: 1 } });
    await send({ id: 'new', image: url('broken'), n: 10 }, { id: 'new', n: { inc: 1 } });
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { n: 1, t: 'old' } });
    for (const task of await claim()) await failAnalysis(store, task, { code: 'image-unreachable', msg: 'gone' });
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { n: 2, t: 'old' }, new: { n: 1 } });
    // Its fields would be missing from now on: it is not forgotten.
    expect(await retryFailed(store, collection)).toEqual({ retried: 0, superseded: 0, conflicting: 2 });
    expect(await collectionStatus(store, collection)).toMatchObject({ failed: 2, pending: 0 });
    await send({ id: 'a', n: 5 });
    expect(await retryFailed(store, collection)).toEqual({ retried: 0, superseded: 1, conflicting: 1 });
  });

  itOnPostgres('are applied after a failed predecessor that is retried before them', async () => {
    await send({ id: 'a', image: url('broken'), n: 10 });
    for (const task of await claim()) await failAnalysis(store, task, { code: 'image-unreachable', msg: 'gone' });
    await send({ id: 'a', n: { inc: 1 } });
    expect(await retryFailed(store, collection)).toEqual({ retried: 1, superseded: 0, conflicting: 0 });
    await commit(store, collection);
    expect(await shown()).toEqual({});
    for (const task of await claim()) await saveAnalysis(store, task, OUTPUTS);
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { image: url('broken'), n: 11, outputs: 'own' } });
  });

  itOnPostgres('are void after a later document or delete, whatever they waited for', async () => {
    await send({ id: 'a', image: url('slow') }, { id: 'b', image: url('slow') }, { id: 'c', image: url('slow') });
    await send({ id: 'a', n: { inc: 1 } }, { id: 'b', n: { inc: 1 } }, { id: 'c', n: { inc: 1 } });
    await send({ id: 'a', n: 50 }, remove('b'), { id: 'a', n: { inc: 1 } });
    await commit(store, collection);
    expect(await shown()).toEqual({ a: { n: 51 } });
    await send(removeMatching('*:*'), { id: 'c', m: { set: 1 } });
    await commit(store, collection);
    expect(await shown()).toEqual({ c: { m: 1 } });
    for (const task of await claim()) await saveAnalysis(store, task, OUTPUTS);
    await commit(store, collection);
    expect(await shown()).toEqual({ c: { m: 1 } });
    expect((await collectionStatus(store, collection)).pending).toBe(0);
  });

  itOnPostgres('set a new picture, or none, and then remove the old one', async () => {
    for (const id of ['a', 'b', 'c']) await send({ id, import: OUTPUTS, thumbnail: WEBP, image: `${id}.jpg`, n: 1 });
    await commit(store, collection);
    await send(
      { id: 'a', image: { set: url('new') } },
      { id: 'a', n: { inc: 1 } },
      { id: 'b', import: { set: OTHERS } },
      { id: 'c', image: { set: null } },
    );
    await commit(store, collection);
    expect(await shown()).toMatchObject({
      a: { image: 'a.jpg', n: 1, outputs: 'own' },
      b: { outputs: 'others' },
      c: { n: 1 },
    });
    const [task] = await claim();
    expect(task?.image).toBe(url('new'));
    if (task) await saveAnalysis(store, task, OTHERS);
    await commit(store, collection);
    expect(await shown()).toEqual({
      a: { image: url('new'), n: 2, outputs: 'others' },
      b: { image: 'b.jpg', n: 1, outputs: 'others' },
      c: { n: 1 },
    });
    expect(await readThumbnail(store, collection, 'b')).toBeNull();
  });

  itOnPostgres('are matched by deletes by query with their result, not their present state', async () => {
    for (const id of ['kept', 'gone', 'failed']) await send({ id, n: 1 });
    await commit(store, collection);
    await send(...['kept', 'gone', 'failed'].map((id) => ({ id, image: { set: url(id) } })));
    await send({ id: 'kept', n: { set: 2 } }, { id: 'gone', m: { set: 2 } }, removeMatching('n:1'));
    await send({ id: 'gone', x: { set: 1 } }, { id: 'kept', x: { set: 1 } });
    await commit(store, collection);
    await maintain(store);
    expect(Object.keys(await shown())).toEqual(['kept', 'gone', 'failed']);
    for (const task of await claim()) {
      if (task.id === 'failed') await failAnalysis(store, task, { code: 'image-unreachable', msg: 'gone' });
      else await saveAnalysis(store, task, OUTPUTS);
    }
    await maintain(store);
    await commit(store, collection);
    expect(await shown()).toEqual({ kept: { image: url('kept'), n: 2, x: 1, outputs: 'own' }, gone: { x: 1 } });
    expect((await collectionStatus(store, collection)).documents).toBe(2);
    await maintain(store);
    expect(
      await store.engine.query(`select * from ${collection.sqlSchema}.barriers where skipped_ids is not null`),
    ).toEqual([]);
  });

  it('result in one document if two clients race', async () => {
    const counts = await Promise.all(
      Array.from({ length: 20 }, (_, i) => send({ id: 'a', n: { inc: 1 }, labels: { 'add-distinct': [`l${i % 3}`] } })),
    );
    expect(new Set(counts.map(({ first }) => first)).size).toBe(20);
    await commit(store, collection);
    const { a } = await shown();
    expect([a.n, a.labels.sort()]).toEqual([20, ['l0', 'l1', 'l2']]);
    expect((await findOperation(store, collection, 20)).state).toBe('visible');
  });
});

const WEBP = Buffer.from('RIFF0000WEBP1').toString('base64');
