import { describe, expect, it } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { book, reindex, workOf } from '../../../test/reindexing.ts';
import { accept, testOutputs, visible } from '../../../test/support.ts';
import { listOperations, waitForOperations } from '../../changes/accept/operations.ts';
import { claimForAnalysis, failAnalysis, saveAnalysis } from '../../changes/analyze/analysis.ts';
import { retryFailed } from '../../changes/analyze/retry.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { defineFields } from '../../database/collections/define-fields.ts';
import { NO_QUOTA, setQuota } from '../../database/collections/quota.ts';
import type { Collection } from '../../database/context.ts';
import { decideGroups } from '../groups/decisions.ts';

describe('a reindex', () => {
  let store: Store;
  let old: Collection;
  freshCollections('postgres', (fresh) => {
    ({ store, collection: old } = fresh);
  });

  it('continues pending changes, with the same operation names', async () => {
    await accept(store, old, [book('a', 1), book('b', 1)]);
    await commit(store, old);
    const picture = (id: string) => book(id, 2, { image: `https://example.org/${id}.jpg` });
    // Pending: a picture, one that fails, one that a later change has made void, and a delete after them.
    const late = await accept(store, old, ['late', 'broken', 'void', 'doomed'].map(picture));
    await accept(store, old, [book('void', 3), { kind: 'delete-by-query', query: 'id:doomed' }]);
    const tasks = await claimForAnalysis(store, 10);
    const broken = tasks.find(({ id }) => id === 'broken');
    if (broken === undefined) throw new Error('not claimed');
    await failAnalysis(store, broken, { code: 'image-unreachable', msg: 'Nobody is there.' });
    await commit(store, old);

    const rebuilt = await reindex(store, old);
    expect(rebuilt.predecessor).toBe(old.id);
    expect(await visible(store, rebuilt, 'value')).toEqual([
      ['a', 1n],
      ['b', 1n],
      ['void', 3n],
    ]);
    const { operations } = await listOperations(store, rebuilt, { limit: 100 });
    expect(operations.map(({ seq, id, state }) => [seq, id, state])).toEqual([
      [late.first, 'late', 'queued'],
      [late.first + 1, 'broken', 'failed'],
      [late.first + 3, 'doomed', 'queued'],
    ]);
    // The next change has the next number, and the old result of an analysis is dropped.
    const next = await accept(store, rebuilt, [book('c', 4)]);
    expect(next.first).toBe(late.first + 6);
    await retryFailed(store, rebuilt);
    for (const task of await claimForAnalysis(store, 10)) {
      await saveAnalysis(store, task, testOutputs({ shape: [0, 1, 0, 0] }));
    }
    await commit(store, rebuilt);
    await waitForOperations(store, rebuilt, { first: 1, last: next.last }, { until: 'visible' });
    expect(await visible(store, rebuilt)).toEqual(['a', 'b', 'broken', 'c', 'late', 'void']);
    // Nothing that would be lost is accepted in the old one.
    for (const change of [
      () => accept(store, old, [book('lost', 1)]),
      () => decideGroups(store, old, ['a', 'b'], 'different'),
      () => defineFields(store, old, new Map([['lost', 'long']])),
      () => retryFailed(store, old),
      () => setQuota(store, old, NO_QUOTA),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: 'unavailable' });
    }
  });

  it('moves changes that wait with fields of their own, and fails those that no longer fit', async () => {
    await accept(store, old, [book('a', 1, { pages: '12' })]);
    await commit(store, old);
    const picture = (id: string, more: object) => book(id, 2, { image: `https://example.org/${id}.jpg`, ...more });
    const waiting = await accept(store, old, [
      picture('new', { isbn: '978' }),
      picture('odd', { pages: 'a few' }),
      picture('fits', { pages: '30' }),
    ]);
    // The swap does not stop a client that waits for them.
    const analyzed = waitForOperations(store, old, waiting);
    const rebuilt = await reindex(store, old, workOf(store), new Map([['pages', 'long']]));
    for (const task of await claimForAnalysis(store, 10)) {
      await saveAnalysis(store, task, testOutputs({ shape: [0, 1, 0, 0] }));
    }
    expect((await analyzed).map(({ id, error }) => [id, error?.code])).toEqual([['odd', 'bad-request']]);
    await commit(store, rebuilt);
    expect(await visible(store, rebuilt, 'isbn')).toEqual([
      ['a', null],
      ['fits', null],
      ['new', '978'],
    ]);
  });
});
