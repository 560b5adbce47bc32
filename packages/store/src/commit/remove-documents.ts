import type { Collection, Store } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import { removePictures } from '../outputs/descriptor-rows.ts';
import type { CommitContext } from './commit-context.ts';

/** Removes rows of documents with all their data. */
export async function removeDocuments(
  tx: Queryable,
  store: Store,
  collection: Collection,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
  const S = collection.sqlSchema;
  await tx.query(`delete from ${S}.documents where doc = any($1::bigint[])`, [docs]);
  await removePictures(tx, store, S, docs);
}

/**
 * Removes rows that were never visible. Inserts barriers, so that earlier operations on the same ids are recognized as
 * void.
 */
export async function removeUnpublished(tx: Queryable, context: CommitContext, docs: readonly bigint[]): Promise<void> {
  if (docs.length === 0) return;
  const S = context.collection.sqlSchema;
  await tx.query(
    `insert into ${S}.barriers (seq, id, accepted_at) select seq, id, now() from ${S}.documents where doc = any($1::bigint[])`,
    [docs],
  );
  await removeDocuments(tx, context.store, context.collection, docs);
}

/** Makes visible rows expire at the commit. */
export async function expirePublished(
  tx: Queryable,
  { collection, target }: CommitContext,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
  await tx.query(`update ${collection.sqlSchema}.documents set valid_to = $2 where doc = any($1::bigint[])`, [
    docs,
    target,
  ]);
}
