import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, openTestStore, visible } from '../../../test/support.ts';
import { collectionStatus, createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

/** Enough that each shard has some. */
const COUNT = 40;

describe('shards on postgres', () => {
  let store: Store;
  sharedStore(
    'postgres',
    (opened) => {
      store = opened;
    },
    (location) => openTestStore(location, 0, { shardsFrom: 0 }),
  );

  const numbered = (n: number) => Array.from({ length: COUNT }, (_, i) => ({ id: `d${i}`, n }));
  const shardsOfIds = async ({ sqlSchema: S }: Collection) => {
    const rows = await store.engine.query<{ id: string; shard: number }>(
      `select id, (doc >> 40)::int as shard from ${S}.documents`,
    );
    return new Map(rows.map(({ id, shard }) => [id, shard]));
  };

  /** Blocks one document, and commits until everything else is applied. */
  async function holdOne(collection: Collection, applied: number, meanwhile: () => Promise<void>): Promise<unknown> {
    const { sqlSchema: S } = collection;
    let committing: Promise<unknown> | undefined;
    await store.engine.transaction(async (tx) => {
      await tx.query('set local idle_in_transaction_session_timeout = 0');
      await tx.query(`select from ${S}.documents where id = 'd0' for update`);
      committing = commit(store, collection);
      committing.catch(() => undefined);
      const unpublished = async () => {
        const [row] = await store.engine.query<{ count: bigint }>(
          'select unpublished_operations as count from akin.collections where id = $1',
          [collection.id],
        );
        return Number(row?.count);
      };
      while ((await unpublished()) < applied);
      await meanwhile();
    });
    return committing;
  }

  it('are applied in parallel, and published together', async () => {
    const collection = await createCollection(store, 'side-by-side', { shards: 3 });
    await accept(store, collection, numbered(1));
    await commit(store, collection);
    const shards = await shardsOfIds(collection);
    const held = [...shards.values()].filter((shard) => shard === shards.get('d0')).length;
    expect(new Set(shards.values()).size).toBe(3);

    await accept(store, collection, [...numbered(2), { kind: 'delete', id: 'd1' }]);
    const all = COUNT + 1;
    const heldChanges = held + (shards.get('d1') === shards.get('d0') ? 1 : 0);
    await holdOne(collection, all - heldChanges, async () => {
      expect(new Set((await visible(store, collection, 'n')).map((row) => (row as unknown[])[1]))).toEqual(
        new Set([1n]),
      );
      expect(await collectionStatus(store, collection)).toMatchObject({ documents: COUNT, commit: 1, pending: all });
    });
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: COUNT - 1, commit: 2, pending: 0 });
    expect(new Set((await visible(store, collection, 'n')).map((row) => (row as unknown[])[1]))).toEqual(new Set([2n]));
  });
});
