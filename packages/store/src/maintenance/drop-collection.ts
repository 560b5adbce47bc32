import type { Store } from '../changes/context.ts';
import { readCollections } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import { sqlStateOf } from '../database/engine/sqlstate.ts';

const DEADLOCK = '40P01';
const MAX_ATTEMPTS = 5;

/** Removes a collection with all its contents, and its reindex. Work in progress on it ends with not-found. */
export async function dropCollection(store: Store, collection: Collection): Promise<void> {
  const target = await retryOnDeadlock(() => removeTables(store, collection));
  if (target !== undefined) await dropCollection(store, target);
  store.memory.forget(collection);
  await store.inMemory.unloadCollection(collection.id);
}

/** @returns the collection that a reindex was filling to replace it */
function removeTables(store: Store, collection: Collection): Promise<Collection | undefined> {
  return store.engine.transaction(async (tx) => {
    // In the order of commits: a writer holds one of these rows, and then locks that of the collection.
    for (const table of ['leases', 'shard_leases']) {
      await tx.query(`delete from akin.${table} where collection = $1`, [collection.id]);
    }
    await tx.query('delete from akin.collections where id = $1', [collection.id]);
    await tx.query(`drop schema if exists ${collection.sqlSchema} cascade`);
    await tx.query('delete from akin.runs where collection = $1', [collection.name]);
    // Keys for it must not give access to a later collection with its name.
    await tx.query(
      `update akin.keys set collections = array_remove(collections, $1)
        where $1 = any (collections) and not exists (select 1 from akin.collections where name = $1)`,
      [collection.name],
    );
    // A later collection with the same name must not get its documents.
    const [reindex] = await tx.query<{ target: number }>(
      `delete from akin.reindexes
        where name = $1 and not exists (select from akin.collections where name = $1) returning target`,
      [collection.name],
    );
    return reindex && (await readCollections(tx, 'id = $1 and replaced_at is null', [reindex.target]))[0];
  });
}

/**
 * Repeats work after a deadlock: it locks rows of a collection and then its tables, and other transactions lock them in
 * the opposite order. The database aborts one of the two, and the other one soon ends.
 */
async function retryOnDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (sqlStateOf(error) !== DEADLOCK || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Removes collections that were replaced so long ago that nothing uses them. */
export async function dropReplaced(store: Store): Promise<void> {
  const replaced = await readCollections(store.engine, "replaced_at < now() - interval '2 minutes'");
  for (const collection of replaced) await dropCollection(store, collection);
}
