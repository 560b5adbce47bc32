import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, encodeDescriptor, groupRule, parseOutputs } from '@akin/modules/vectors';
import { createMemoryQueue } from '@akin/queue/memory';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import { openStore } from '@akin/store';
import { commit } from '@akin/store/changes';
import { createCollection } from '@akin/store/database';
import { decideGroups, listGroups } from '@akin/store/maintenance';
import { testDatabase } from '@akin/testing';
import { expect, it, jest } from '@jest/globals';
import { accept } from '../test/support.ts';
import { createIndexer } from './indexer.ts';
import { Groups } from './refresh-groups.ts';

const log = createLogger({ name: 'test', level: 'silent' });

/** A picture whose descriptor points along one axis, and slightly along the next. */
function picture(axis: number, aside = 0): string {
  const dimensions = MODULES.find(({ name }) => name === groupRule().module)?.descriptor?.dimensions ?? 0;
  const vector = new Float32Array(dimensions);
  vector[axis] = Math.cos(aside);
  vector[axis + 1] = Math.sin(aside);
  return JSON.stringify({ duplicate_descriptor: encodeDescriptor(vector, 'duplicate') });
}

it('updates groups of near-duplicates at once after a commit and after a decision', async () => {
  const database = await testDatabase();
  const store = await openStore({ databaseUrl: database.url, modules: MODULES, parseOutputs, descriptorTexts });
  const collection = await createCollection(store, 'shop');
  const queue = createMemoryQueue();
  const indexer = createIndexer({ store, queue, log, metrics: createMetrics(), sweepMilliseconds: 3_600_000 });
  const groups = async (commit: number) => {
    for (;;) {
      const page = await listGroups(store, collection, { rows: 10, members: 10 });
      if (page.asOfCommit >= commit) return page.groups.map(({ members }) => members.map(({ id }) => id));
    }
  };
  try {
    const { maxDistance } = groupRule();
    await accept(store, collection, [
      { id: 'a', import: picture(3) },
      { id: 'b', import: picture(3, maxDistance / 2) },
      { id: 'c', import: picture(3, maxDistance * 1.1) },
    ]);
    const { commit } = await indexer.commit('shop');
    expect(await groups(commit)).toEqual([['a', 'b']]);
    await decideGroups(store, collection, ['a', 'b'], 'different');
    expect(await groups(commit)).toEqual([['c', 'b']]);
  } finally {
    await indexer[Symbol.asyncDispose]();
    await queue[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await database.drop();
  }
});

it('leaves the processor to a commit, but not for ever', async () => {
  const database = await testDatabase();
  const store = await openStore({ databaseUrl: database.url, modules: MODULES, parseOutputs, descriptorTexts });
  try {
    const collection = await createCollection(store, 'shop');
    await accept(store, collection, [{ id: 'a', import: picture(3) }]);
    const last = await commit(store, collection);
    const groups = new Groups(store);
    const asOf = async () => (await listGroups(store, collection, { rows: 10, members: 10 })).asOfCommit;
    const { signal } = new AbortController();
    store.commits.set(collection.id, { running: new Promise(() => {}) });
    expect(await groups.refresh(collection, signal)).toBe(false);
    expect(await asOf()).toBeLessThan(last.commit);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 31_000);
    expect(await groups.refresh(collection, signal)).toBe(true);
    expect(await asOf()).toBe(last.commit);
    expect(await groups.refresh(collection, signal)).toBe(false);
    store.commits.clear();
    expect(await groups.refresh(collection, signal)).toBe(true);
  } finally {
    jest.restoreAllMocks();
    await store[Symbol.asyncDispose]();
    await database.drop();
  }
});
