import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import { commit } from '../src/changes/commit/commit.ts';
import type { Store } from '../src/changes/context.ts';
import { findCollection } from '../src/database/collections/collections.ts';
import type { Collection } from '../src/database/context.ts';
import { type ReindexWork, runReindex } from '../src/maintenance/reindex/run-reindex.ts';
import type { ReindexSettings } from '../src/maintenance/reindex/state.ts';
import { beginReindex } from '../src/maintenance/reindex/state.ts';
import { openTestStore, parseTestOutputs, testLocation } from './support.ts';

/** A store on PostgreSQL whose models accept outputs without the name `v2` as long as `takes.first`. */
export async function storeWithModels() {
  const { location, remove } = await testLocation('postgres');
  const takes = { first: true };
  const parseOutputs = (json: string) => {
    if (!takes.first && !json.includes('"v2"')) throw new AkinError('bad-request', 'These are of version 1.');
    return parseTestOutputs(json);
  };
  const store = await openTestStore(location, 0, { parseOutputs });
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
export function workOf(
  store: Store,
  onCommit: (name: string) => Promise<void> = async () => {},
  more: Partial<ReindexWork> = {},
): ReindexWork {
  return {
    holder: randomUUID(),
    allowMissing: false,
    signal: new AbortController().signal,
    wake: () => {},
    commit: async (name) => {
      await onCommit(name);
      await commit(store, await findCollection(store, name));
    },
    ...more,
  };
}

/** @returns the empty collection that will replace the other one */
export async function targetOf(
  store: Store,
  collection: Collection,
  holder: string = randomUUID(),
  fields = new Map(),
  settings?: ReindexSettings,
): Promise<Collection> {
  const target = await beginReindex(store, collection, holder, fields, settings);
  if (target === undefined) throw new Error('a reindex is already running');
  return target;
}

/** @returns the collection that has replaced the other one */
export async function reindex(
  store: Store,
  collection: Collection,
  work: ReindexWork = workOf(store),
  fields = new Map(),
  settings?: ReindexSettings,
): Promise<Collection> {
  await runReindex(store, collection, await targetOf(store, collection, work.holder, fields, settings), work);
  return findCollection(store, collection.name);
}

/** A document. */
export const book = (id: string, value: number, more: object = {}) => ({ id, value, ...more });
