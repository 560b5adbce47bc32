import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { findCollection } from '../src/collections/collections.ts';
import { commit } from '../src/commit/commit.ts';
import type { Collection, Store } from '../src/context.ts';
import { type ReindexWork, runReindex } from '../src/reindex/run-reindex.ts';
import { beginReindex } from '../src/reindex/state.ts';
import { openStore } from '../src/store.ts';
import { parseTestOutputs, TEST_MODULES, testDescriptorTexts, testLocation } from './support.ts';

/** A store on PostgreSQL whose models accept outputs without the name `v2` as long as `takes.first`. */
export async function storeWithModels() {
  const { location, remove } = await testLocation('postgres');
  const takes = { first: true };
  const parseOutputs = (json: string) => {
    if (!takes.first && !json.includes('"v2"')) throw new AkinError('bad-request', 'These are of version 1.');
    return parseTestOutputs(json);
  };
  const store = await openStore({
    ...location,
    modules: TEST_MODULES,
    graceMilliseconds: 0,
    parseOutputs,
    descriptorTexts: testDescriptorTexts,
  });
  return {
    store,
    takes,
    close: async () => {
      await store[Symbol.asyncDispose]();
      await remove();
    },
  };
}

/** @param onCommit called before each commit, to change something */
export function workOf(store: Store, onCommit: (name: string) => Promise<void> = async () => {}): ReindexWork {
  return {
    holder: randomUUID(),
    allowMissing: false,
    signal: new AbortController().signal,
    wake: () => {},
    commit: async (name) => {
      await onCommit(name);
      await commit(store, await findCollection(store, name));
    },
  };
}

export async function reindex(
  store: Store,
  collection: Collection,
  work: ReindexWork,
  fields = new Map(),
  settings: Parameters<typeof beginReindex>[4] = {},
): Promise<void> {
  const target = await beginReindex(store, collection, work.holder, fields, settings);
  if (target === undefined) throw new Error('a reindex is already running');
  await runReindex(store, collection, target, work);
}

/** A document. */
export const book = (id: string, value: number, more: object = {}) => ({ id, value, ...more });
