import { LIVE } from '../../database/collections/collection-tables.ts';
import { dropFailedIndex } from '../../database/collections/field-indexes.ts';
import { partitionOf } from '../../database/collections/shards.ts';
import { columnsOf, docsOf, textArray } from '../../database/engine/binary.ts';
import type { Queryable, WritingTransaction } from '../../database/engine/engine.ts';
import { causeOf, reasonOf } from '../../database/engine/sqlstate.ts';
import { copyPictures, removePictures } from '../../database/outputs/descriptor-rows.ts';
import type { AdaptiveBatchSize } from './adaptive-batch-size.ts';
import { applyBarriers, failRefusedBarrier } from './barriers.ts';
import { closeOperations, failOperations } from './close-operations.ts';
import { type CommitContext, inCommit, shardOf } from './commit-context.ts';
import { DescriptorChanges } from './descriptor-counts.ts';
import type { DocumentColumns } from './document-rows.ts';
import { endRows, type LiveRow, removeDocuments, sumOfBytes } from './expire-rows.ts';
import { supersedeFailed } from './failures.ts';
import { addRows } from './insert-rows.ts';
import { type Prepared, prepareChunk } from './prepare.ts';
import { removeTombstones, writeTombstones, writeTombstonesOfVoid } from './tombstones.ts';
import { usesLongPendingList } from './words-index.ts';

/**
 * Applies a chunk, unpublished, in one transaction. Among operations on one id the latest counts, in whatever order
 * they arrive; the others are superseded. An operation that the database refuses is found by bisection, and fails
 * alone.
 */
export async function applyChunk(
  context: CommitContext,
  prepared: readonly Prepared[],
  batchSize: AdaptiveBatchSize,
): Promise<void> {
  if (prepared.length === 0) return;
  try {
    await inCommit(
      context,
      (tx) => batchSize.measure(prepared.length, () => applyInTransaction(tx, context, prepared)),
      { longPendingList: usesLongPendingList(context.store) },
    );
  } catch (error) {
    if (await failRefusedBarrier(context, error)) return applyChunk(context, prepared, batchSize);
    // Other errors are not caused by a document.
    if (causeOf(error) !== 'values') throw error;
    if (await dropFailedIndex(context.store, context.collection, error)) {
      return applyChunk(context, prepared, batchSize);
    }
    const [first] = prepared;
    if (prepared.length === 1 && first !== undefined) {
      const msg = `The database refuses the document: ${reasonOf(error)}`;
      return failOperations(context, [{ operation: first.operation, code: 'bad-request', msg }]);
    }
    if (prepared.some(({ operation }) => operation.atomic)) {
      // Documents that were made from a refused one must be made again without it.
      for (const { operation } of prepared) {
        await applyChunk(context, await prepareChunk(context, [operation]), batchSize);
      }
      return;
    }
    const half = prepared.length >> 1;
    await applyChunk(context, prepared.slice(0, half), batchSize);
    await applyChunk(context, prepared.slice(half), batchSize);
  }
}

async function applyInTransaction(
  tx: WritingTransaction,
  context: CommitContext,
  prepared: readonly Prepared[],
): Promise<void> {
  const { store, collection } = context;
  const S = collection.sqlSchema;
  const { latest, superseded } = await findLatest(tx, context, prepared);
  const ids = latest.map(({ id }) => id);
  const added = latest.filter((one) => one.columns !== undefined);

  const deletes = latest.filter((one) => one.columns === undefined);
  await writeTombstonesOfDeletes(tx, context, deletes, superseded);
  const addedIds = added.map(({ id }) => id);
  await removeTombstones(tx, context, addedIds);
  const copies = added.flatMap(({ operation: { doc }, pictureOf }) =>
    doc === null || pictureOf === undefined ? [] : [{ from: pictureOf, to: doc }],
  );
  await copyPictures(tx, store, S, copies);
  const changes = new DescriptorChanges();
  const expired = await expireLive(tx, context, ids, changes);
  const bytes = await addRows(tx, context, added);
  for (const { modules = [] } of added) for (const module of modules) changes.add(module, 1);
  if (deletes.length > 0) {
    await tx.query(
      `insert into ${S}.barriers (seq, id, accepted_at) select * from unnest($1::bigint[], $2::text[], $3::timestamptz[])`,
      columnsOf(operationsOf(deletes), 'seq', 'id', 'acceptedAt'),
    );
  }
  // This must come before the barriers, which check for pending changes of a document.
  const [applied, madeVoid] = [operationsOf(latest), operationsOf(superseded)];
  await closeOperations(tx, context, applied, 'applied');
  await closeOperations(tx, context, madeVoid, 'superseded');
  const gone = [...expired, ...(await applyBarriers(tx, context, operationsOf(added), changes))];
  await removePictures(tx, store, S, docsOf(madeVoid));
  // An atomic update supersedes no failed change, because it could not update the document of that change.
  const whole = latest.filter(({ operation }) => !operation.atomic);
  const changed = whole.map(({ id, operation: { seq } }) => ({ id, seq }));
  await supersedeFailed(tx, store, S, changed);
  await tx.query(
    `update akin.collections set unpublished_documents = unpublished_documents + $2,
            unpublished_bytes = unpublished_bytes + $3, unpublished_operations = unpublished_operations + $4
      where id = $1`,
    [collection.id, added.length - gone.length, bytes - sumOfBytes(gone), prepared.length],
  );
  await changes.write(tx, context);
}

const operationsOf = (prepared: readonly Prepared[]) => prepared.map(({ operation }) => operation);

const documentsOf = (context: CommitContext) => partitionOf(context.collection, 'documents', shardOf(context));

/** Separates the latest operation on each id from those that a later one, here or applied before, has made void. */
async function findLatest(
  tx: Queryable,
  context: CommitContext,
  prepared: readonly Prepared[],
): Promise<{ latest: Prepared[]; superseded: Prepared[] }> {
  const byId = new Map<string, Prepared>();
  for (const one of prepared) {
    if (one.isObsolete) continue;
    const other = byId.get(one.id);
    if (other === undefined || other.operation.seq < one.operation.seq) byId.set(one.id, one);
  }
  const rows = await tx.query<{ id: string; seq: bigint }>(
    `select id, max(seq) as seq from (
       select id, seq from ${documentsOf(context)} where id = any($1::text[])
       union all
       select id, seq from ${context.collection.sqlSchema}.barriers where id = any($1::text[])
     ) known group by id`,
    [textArray([...byId.keys()])],
  );
  for (const { id, seq } of rows) {
    const one = byId.get(id);
    if (one !== undefined && one.operation.seq < seq) byId.delete(id);
  }
  const latest = [...byId.values()];
  const kept = new Set(latest);
  return { latest, superseded: prepared.filter((one) => !kept.has(one)) };
}

/**
 * Writes tombstones for the documents that deletes remove, including documents of this chunk that the deletes
 * supersede.
 */
async function writeTombstonesOfDeletes(
  tx: Queryable,
  context: CommitContext,
  deletes: readonly Prepared[],
  superseded: readonly Prepared[],
): Promise<void> {
  const withTombstones = new Map(
    deletes.filter(({ operation }) => operation.leavesTombstones).map((one) => [one.id, one]),
  );
  if (withTombstones.size === 0) return;
  await writeTombstones(tx, context, `d.id = any($1::text[]) and d.valid_to = ${LIVE}`, [
    textArray([...withTombstones.keys()]),
  ]);
  const byId = new Map<string, { id: string; seq: bigint; columns: DocumentColumns }>();
  for (const { id, columns, operation } of superseded) {
    const { seq } = operation;
    if (columns === undefined || !withTombstones.has(id) || seq < (byId.get(id)?.seq ?? seq)) continue;
    byId.set(id, { id, seq, columns });
  }
  await writeTombstonesOfVoid(tx, context, [...byId.values()]);
}

/** Ends the live rows of some ids. @param changes gets their descriptors, as removed @returns the ended rows */
async function expireLive(
  tx: Queryable,
  context: CommitContext,
  ids: readonly string[],
  changes: DescriptorChanges,
): Promise<LiveRow[]> {
  const live = await tx.query<LiveRow>(
    `select doc, valid_from, bytes from ${documentsOf(context)} where id = any($1::text[]) and valid_to = ${LIVE}`,
    [textArray(ids)],
  );
  await endRows(tx, context, live, changes, removeDocuments);
  return live;
}
