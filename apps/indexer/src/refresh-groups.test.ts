import { MODULES } from '@akin/modules/manifests';
import {
  calibrations,
  descriptorTexts,
  encodeDescriptor,
  groupRule,
  models,
  parseOutputs,
} from '@akin/modules/vectors';
import { createMemoryQueue } from '@akin/queue/memory';
import { createLogger, createMetrics } from '@akin/runtime/observability';
import {
  commit,
  createCollection,
  decideGroups,
  listGroups,
  openStore,
  type Store,
  type StoreConfig,
} from '@akin/store';
import { type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accept } from '../test/support.ts';
import { createIndexer } from './indexer.ts';
import { refreshGroups } from './refresh-groups.ts';

const log = createLogger({ name: 'test', level: 'silent' });

/** A picture whose descriptor points along one axis, and slightly along the next. */
function picture(axis: number, aside = 0): string {
  const dimensions = MODULES.find(({ name }) => name === groupRule().module)?.descriptor?.dimensions ?? 0;
  const vector = new Float32Array(dimensions);
  vector[axis] = Math.cos(aside);
  vector[axis + 1] = Math.sin(aside);
  return JSON.stringify({ duplicate_descriptor: encodeDescriptor(vector, 'duplicate') });
}

describe('groups of near-duplicates', () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await testDatabase();
    store = await openStore({ databaseUrl: database.url, modules: MODULES, parseOutputs, descriptorTexts });
  });
  afterAll(async () => {
    await store[Symbol.asyncDispose]();
    await database.drop();
  });

  it('are updated at once after a commit and after a decision', async () => {
    const collection = await createCollection(store, 'shop');
    const queue = createMemoryQueue();
    const indexer = createIndexer({ store, queue, log, metrics: createMetrics(), sweepMilliseconds: 3_600_000 });
    const groups = async (commit: number) => {
      for (;;) {
        const page = await listGroups(store, collection, { rows: 10, members: 10 });
        if (page.asOfCommit >= commit) return page.groups.map(({ members }) => members.map(({ id }) => id));
        await new Promise((resolve) => setTimeout(resolve, 20));
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
    }
  });

  it('use the scores of another model in a collection with its descriptors', async () => {
    const other = await testDatabase();
    const place: StoreConfig = { databaseUrl: other.url, modules: MODULES, parseOutputs, descriptorTexts };
    // The score of the distance d was 1 - d / 2: 0.74, the threshold of groups, at 0.52.
    const line = [
      [0, 1],
      [2, 0],
    ] as const;
    const names = [...models().keys()];
    // Its outputs do not name their models.
    const unnamed: StoreConfig['parseOutputs'] = (json) => {
      const { fields, descriptors } = parseOutputs(json);
      return { fields, descriptors: new Map(Array.from(descriptors, ([module, { vector }]) => [module, { vector }])) };
    };
    let opened = await openStore({
      ...place,
      parseOutputs: unnamed,
      models: new Map(names.map((name) => [name, 'earlier-1'])),
      calibrations: new Map(names.map((name) => [name, line])),
    });
    try {
      const collection = await createCollection(opened, 'earlier');
      const apart = (distance: number) => picture(3, 2 * Math.asin(distance / 2));
      await accept(opened, collection, [
        { id: 'a', import: picture(3) },
        { id: 'b', import: apart(0.515) },
        { id: 'c', import: apart(-0.525) },
      ]);
      await commit(opened, collection);
      await opened[Symbol.asyncDispose]();
      opened = await openStore({ ...place, models: models(), calibrations: calibrations() });
      expect(await refreshGroups(opened, collection, new AbortController().signal)).toBe(true);
      const page = await listGroups(opened, collection, { rows: 10, members: 10 });
      expect(page.asOfCommit).toBe(page.commit);
      expect(page.groups.map(({ members }) => members.map(({ id }) => id))).toEqual([['a', 'b']]);
    } finally {
      await opened[Symbol.asyncDispose]();
      await other.drop();
    }
  });
});
