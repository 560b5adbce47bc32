import { onPostgres } from '@akin/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { maintain } from '../../../test/maintain.ts';
import { accept, ENGINES, testOutputs, visible } from '../../../test/support.ts';
import { collectionStatus } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { listOperations } from '../accept/operations.ts';
import { claimForAnalysis, failAnalysis } from '../analyze/analysis.ts';
import { retryFailed } from '../analyze/retry.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

const PICTURE = { image: 'https://example.com/a.jpg' };
const UNREACHABLE = { code: 'image-unreachable', msg: 'The server answered with 404.' } as const;

describe.each(ENGINES)('failed changes on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  /** Accepts documents whose pictures cannot be fetched. */
  const failToAdd = async (...ids: string[]) => {
    await accept(
      store,
      collection,
      ids.map((id) => ({ id, ...PICTURE })),
    );
    for (const task of await claimForAnalysis(store, 1_000)) await failAnalysis(store, task, UNREACHABLE);
  };
  const failures = async () => (await collectionStatus(store, collection)).failures;
  const states = async () =>
    (await listOperations(store, collection, { limit: 100 })).operations.map(({ state }) => state);

  afterEach(async () => {
    // The counts match the operations.
    const [row] = await store.engine.query<{ count: bigint }>(
      `select count(*) as count from ${collection.sqlSchema}.operations where state = 'failed'`,
    );
    expect((await collectionStatus(store, collection)).failed).toBe(Number(row?.count));
  });

  it('count until the same document is stored successfully', async () => {
    await failToAdd('a', 'b');
    await failToAdd('a');
    expect(await failures()).toEqual({ 'image-unreachable': 3 });
    await accept(store, collection, [{ id: 'a', import: testOutputs({ names: ['red'] }) }]);
    await commit(store, collection);
    expect(await failures()).toEqual({ 'image-unreachable': 1 });
    expect(await states()).toEqual(['superseded', 'failed', 'superseded', 'visible']);
    expect(await retryFailed(store, collection)).toEqual({ retried: 1, superseded: 0, conflicting: 0 });
    expect(await failures()).toEqual({});
  });

  itOnPostgres('leave no thumbnail behind if they are retried after a later change', async () => {
    const thumbnail = Buffer.from('RIFF0000WEBP1').toString('base64');
    await accept(store, collection, [{ id: 'a', ...PICTURE, thumbnail }]);
    for (const task of await claimForAnalysis(store, 10)) await failAnalysis(store, task, UNREACHABLE);
    await accept(store, collection, [{ id: 'a' }]);
    expect(await retryFailed(store, collection)).toEqual({ retried: 0, superseded: 1, conflicting: 0 });
    expect(await store.engine.query(`select doc from ${collection.sqlSchema}.thumbnails`)).toEqual([]);
  });

  itOnPostgres('still count if only an earlier change of the document took effect', async () => {
    await accept(store, collection, [{ id: 'a' }]);
    await failToAdd('a');
    await commit(store, collection);
    await maintain(store);
    expect(await failures()).toEqual({ 'image-unreachable': 1 });
    expect(await visible(store, collection)).toEqual(['a']);
  });

  itOnPostgres.each<[string, object, string[]]>([
    ['by id', { kind: 'delete', id: 'a' }, ['b']],
    ['of some ids', { kind: 'delete-by-query', query: 'id:(a c)' }, ['b']],
    ['of one id', { kind: 'delete-by-query', query: 'id:"b"^2' }, ['a']],
    ['of everything', { kind: 'delete-by-query', query: '*:*' }, []],
    ['of everything, written in another way', { kind: 'delete-by-query', query: '{!lucene}(*)' }, []],
    ['of what it may not have been', { kind: 'delete-by-query', query: '-n:1' }, ['a', 'b']],
  ])('are made void by a delete %s that covers them', async (_, change, left) => {
    await failToAdd('a', 'b');
    await accept(store, collection, [{ id: 'c', n: 1 }, change]);
    await commit(store, collection);
    await maintain(store);
    const { operations } = await listOperations(store, collection, { state: 'failed', limit: 10 });
    expect(operations.map(({ id }) => id)).toEqual(left);
  });

  itOnPostgres('do not count if they fail only after a later change took effect', async () => {
    await accept(store, collection, [
      { id: 'a', ...PICTURE },
      { id: 'b', ...PICTURE },
    ]);
    const tasks = await claimForAnalysis(store, 10);
    await accept(store, collection, [{ id: 'a' }, { kind: 'delete', id: 'b' }]);
    await commit(store, collection);
    for (const task of tasks) await failAnalysis(store, task, UNREACHABLE);
    await maintain(store);
    expect(await failures()).toEqual({});
    expect(await states()).toEqual(['superseded', 'superseded', 'visible', 'visible']);
  });

  itOnPostgres('count again after a failed retry, with the newer reason', async () => {
    await failToAdd('a');
    await retryFailed(store, collection);
    expect(await failures()).toEqual({});
    for (const task of await claimForAnalysis(store, 10)) {
      await failAnalysis(store, task, { code: 'image-undecodable', msg: 'It is cut off.' });
    }
    expect(await failures()).toEqual({ 'image-undecodable': 1 });
  });

  it('are counted in a few rows, and made void in batches, however many there are', async () => {
    const S = collection.sqlSchema;
    const many = 2_500;
    const staged = await store.engine.query<{ request: bigint }>(
      `insert into ${S}.requests (first_seq, count, accepted_at, finished)
       select next_seq, ${many}, now(), true from akin.collections where id = $1 returning request`,
      [collection.id],
    );
    await store.engine.query('update akin.collections set next_seq = next_seq + $2 where id = $1', [
      collection.id,
      many,
    ]);
    await store.engine.query(
      `insert into ${S}.operations (request, position, kind, id, state, error_code, error_msg)
       select $1, i, 'add', 'a', 'failed', 'image-unreachable', 'gone' from generate_series(0, ${many - 1}) i`,
      [staged[0]?.request ?? 0n],
    );
    await store.engine.query(
      `insert into ${S}.failure_counts (code, delta) select 'image-unreachable', 1 from generate_series(1, ${many})`,
    );
    await maintain(store);
    expect(await store.engine.query(`select * from ${S}.failure_counts`)).toEqual([
      { code: 'image-unreachable', delta: BigInt(many) },
    ]);
    expect(await failures()).toEqual({ 'image-unreachable': many });
    await accept(store, collection, [{ id: 'a' }]);
    await commit(store, collection);
    // No commit makes more void than one batch. Housekeeping does the rest.
    expect(await failures()).toEqual({ 'image-unreachable': many - 1_000 });
    await maintain(store);
    expect(await failures()).toEqual({});
  });
});
