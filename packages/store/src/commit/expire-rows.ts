import type { Queryable } from '../engine/engine.ts';
import type { CommitContext } from './commit-context.ts';
import { DescriptorChanges } from './descriptor-counts.ts';
import { expirePublished, removeUnpublished } from './remove-documents.ts';
import { writeTombstones } from './tombstones.ts';

export interface LiveRow {
  readonly doc: bigint;
  readonly valid_from: bigint;
  readonly bytes: number | null;
}

export function sumOfBytes(rows: readonly Pick<LiveRow, 'bytes'>[]): number {
  return rows.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

/** Expires live rows that a delete by query matches: published ones at the commit, unpublished ones at once. */
export async function expireRows(
  tx: Queryable,
  context: CommitContext,
  rows: readonly LiveRow[],
  withTombstones: boolean,
): Promise<void> {
  if (rows.length === 0) return;
  const { collection, target } = context;
  const docs = rows.map(({ doc }) => doc);
  const changes = new DescriptorChanges();
  await changes.remove(tx, context, docs);
  if (withTombstones) await writeTombstones(tx, context, 'd.doc = any($1::bigint[])', [docs]);
  const published = rows.filter(({ valid_from }) => valid_from < target).map(({ doc }) => doc);
  const unpublished = rows.filter(({ valid_from }) => valid_from === target).map(({ doc }) => doc);
  await expirePublished(tx, context, published);
  await removeUnpublished(tx, context, unpublished);
  await tx.query(
    `update akin.collections set unpublished_documents = unpublished_documents - $2,
            unpublished_bytes = unpublished_bytes - $3 where id = $1`,
    [collection.id, rows.length, sumOfBytes(rows)],
  );
  await changes.write(tx, context);
}
