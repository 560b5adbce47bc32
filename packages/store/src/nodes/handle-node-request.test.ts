import { parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, openTestStore, testOutputs } from '../../test/support.ts';
import { createCollection } from '../collections/collections.ts';
import { loadSchema } from '../collections/schema.ts';
import { shardRanges } from '../collections/shards.ts';
import { commit } from '../commit/commit.ts';
import type { Collection, Store } from '../context.ts';
import { search } from '../search/search.ts';
import { handleNodeRequest } from './handle-node-request.ts';

const COUNT = 200;
const SHADES = ['red', 'green', 'blue', 'grey'];

describe('a search node', () => {
  let store: Store;
  let collection: Collection;

  const add = async (numbers: readonly number[]) => {
    const import_ = testOutputs({ shape: [1, 0, 0, 0] });
    const documents = numbers.map((n) => ({ id: `t${n}`, shade: SHADES[n % SHADES.length], import: import_ }));
    await accept(store, collection, documents);
    return commit(store, collection);
  };
  sharedStore(
    'postgres',
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'things', { shards: 2 });
      await add(Array.from({ length: COUNT }, (_, n) => n));
      await store.engine.query(`analyze ${collection.sqlSchema}.documents`);
    },
    (location) => openTestStore(location, 0, { exactDocuments: 50 }),
  );

  /** How many documents match a filter, and whether the node has found that out. */
  const count = async (filter: string) => {
    const asking = { shards: [0, 1], readMilliseconds: 1_000_000, signal: new AbortController().signal };
    const nodes: Store['nodes'] = {
      findCandidates: async (request) => [
        { ...(await handleNodeRequest(store, request, asking)), assignedShards: undefined },
      ],
    };
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    const question = { query: parseQuery('*:*'), filters: [parseQuery(filter)], rank, rows: 1 };
    const { numFound, ranking } = await search({ ...store, nodes }, collection, question);
    return [numFound, ranking?.inMemory];
  };
  /** The columns that the node has in memory, of each shard. */
  const columns = async () => {
    const names: (readonly string[] | undefined)[] = [];
    for (const [shard, { from, to }] of shardRanges(collection).entries()) {
      const part = { shard, shardCount: 2, from: Number(from), to: Number(to) };
      const held = await store.engine.transaction((tx) =>
        store.inMemory.find({ ...collection, part }, tx, 1n, 'shape'),
      );
      await held?.columns.untilRead;
      names.push(held?.columns.names);
    }
    return names;
  };

  it('answers new filters from a column in memory after a commit', async () => {
    expect([await count('shade:red'), await count('shade:green')]).toEqual([
      [COUNT / 4, true],
      [COUNT / 4, true],
    ]);
    const shade = ((await loadSchema(store, collection)).columns.get('shade') as { sql: string }).sql;
    expect(await columns()).toEqual([[shade], [shade]]);
    await add([COUNT, COUNT + 1, COUNT + 2, COUNT + 3]);
    expect([await count('shade:blue'), await count('-shade:grey')]).toEqual([
      [COUNT / 4 + 1, true],
      [(COUNT / 4 + 1) * 3, true],
    ]);
    expect(await columns()).toEqual([[shade], [shade]]);
  });
});
