import { docsOf } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { removePictures } from '../../database/outputs/descriptor-rows.ts';
import type { CollectionContext } from '../context.ts';
import type { CommitContext } from './commit-context.ts';
import { DescriptorChanges } from './descriptor-counts.ts';
import { writeTombstones } from './tombstones.ts';

export interface LiveRow {
  readonly doc: bigint;
  readonly valid_from: bigint;
  readonly bytes: number | null;
}

export function sumOfBytes(rows: readonly Pick<LiveRow, 'bytes'>[]): number {
  return rows.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

/** Expires live rows that a delete by query matches. */
export async function expireRows(
  tx: Queryable,
  context: CommitContext,
  rows: readonly LiveRow[],
  withTombstones: boolean,
): Promise<void> {
  if (rows.length === 0) return;
  if (withTombstones) await writeTombstones(tx, context, 'd.doc = any($1::bigint[])', [docsOf(rows)]);
  const changes = new DescriptorChanges();
  await endRows(tx, context, rows, changes, removeUnpublished);
  await tx.query(
    `update akin.collections set unpublished_documents = unpublished_documents - $2,
            unpublished_bytes = unpublished_bytes - $3 where id = $1`,
    [context.collection.id, rows.length, sumOfBytes(rows)],
  );
  await changes.write(tx, context);
}

/**
 * Ends live rows: published ones at the commit, unpublished ones at once.
 *
 * @param changes gets their descriptors, as removed
 * @param remove removes the unpublished ones
 */
export async function endRows(
  tx: Queryable,
  context: CommitContext,
  rows: readonly LiveRow[],
  changes: DescriptorChanges,
  remove: typeof removeUnpublished,
): Promise<void> {
  const { collection, target } = context;
  await changes.remove(tx, context, docsOf(rows));
  const published = docsOf(rows.filter(({ valid_from }) => valid_from < target));
  if (published.length > 0) {
    const sql = `update ${collection.sqlSchema}.documents set valid_to = $2 where doc = any($1::bigint[])`;
    await tx.query(sql, [published, target]);
  }
  await remove(tx, context, docsOf(rows.filter(({ valid_from }) => valid_from === target)));
}

/** Removes rows of documents with all their data. */
export async function removeDocuments(
  tx: Queryable,
  { store, collection: { sqlSchema: S } }: Pick<CollectionContext, 'store' | 'collection'>,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
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
  await removeDocuments(tx, context, docs);
}
