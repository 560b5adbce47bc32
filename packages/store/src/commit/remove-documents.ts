import { descriptorTable } from '../collections/collection-tables.ts';
import type { Collection, Store } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';

/** Removes rows of documents with all that hangs on them. */
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
  for (const table of [`${S}.documents`, ...descriptors, `${S}.outputs`, `${S}.thumbnails`]) {
    await tx.query(`delete from ${table} where doc = any($1::bigint[])`, [docs]);
  }
}

/** Removes rows that were never visible; that they were there has to be known to earlier operations on their ids. */
export async function removeUnpublished(
  tx: Queryable,
  store: Store,
  collection: Collection,
  docs: readonly bigint[],
): Promise<void> {
  if (docs.length === 0) return;
  const S = collection.sqlSchema;
  await tx.query(
    `insert into ${S}.barriers (seq, id, accepted_at) select seq, id, now() from ${S}.documents where doc = any($1::bigint[])`,
    [docs],
  );
  await removeDocuments(tx, store, collection, docs);
}
