import { descriptorTable } from '../collections/collection-tables.ts';
import type { Collection, Store } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import type { ChunkContext } from './chunks.ts';

/** Removes rows of documents with all their data. */
export async function removeDocuments(
  tx: Queryable,
  store: Store,
  collection: Collection,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
  const S = collection.sqlSchema;
  const descriptors = store.modules
    .filter((module) => module.descriptor)
    .map((module) => descriptorTable(S, module.name));
  for (const table of [`${S}.documents`, ...descriptors]) {
    await tx.query(`delete from ${table} where doc = any($1::bigint[])`, [docs]);
  }
  await removePictures(tx, store, collection, docs);
}

/** Removes outputs and thumbnails of documents. */
export async function removePictures(
  tx: Queryable,
  _store: Store,
  { sqlSchema: S }: Collection,
  docs: readonly bigint[],
): Promise<void> {
  for (const table of [`${S}.outputs`, `${S}.thumbnails`]) {
    await tx.query(`delete from ${table} where doc = any($1::bigint[])`, [docs]);
  }
}

/**
 * Removes rows that were never visible. Inserts barriers, so that earlier operations on the same ids are recognized as
 * void.
 */
export async function removeUnpublished(tx: Queryable, context: ChunkContext, docs: readonly bigint[]): Promise<void> {
  if (docs.length === 0) return;
  const S = context.collection.sqlSchema;
  await tx.query(
    `insert into ${S}.barriers (seq, id, accepted_at) select seq, id, now() from ${S}.documents where doc = any($1::bigint[])`,
    [docs],
  );
  await expireUnpublished(tx, context, docs);
}

/** Makes visible rows expire at the commit. */
export async function expirePublished(
  tx: Queryable,
  { collection, target, chunk }: ChunkContext,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
  const endedChunk = chunk === undefined ? '' : `, ended_chunk = ${chunk}`;
  await tx.query(
    `update ${collection.sqlSchema}.documents set valid_to = $2${endedChunk} where doc = any($1::bigint[])`,
    [docs, target],
  );
}

/**
 * Makes rows expire that no search will see. In a collection with shards on other servers they stay for a while, so
 * that they can be restored.
 */
export async function expireUnpublished(
  tx: Queryable,
  { store, collection, chunk }: ChunkContext,
  docs: readonly bigint[],
): Promise<void> {
  if (chunk === undefined) return removeDocuments(tx, store, collection, docs);
  if (docs.length === 0) return;
  // Ended before all commits, with a number that no other row of the id has.
  await tx.query(
    `update ${collection.sqlSchema}.documents set valid_to = -doc, ended_chunk = ${chunk}
      where doc = any($1::bigint[])`,
    [docs],
  );
}
