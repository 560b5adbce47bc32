import { shardRanges } from '../../database/collections/shards.ts';
import { textArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { Params } from '../../search/params.ts';
import { compileDelete, refusedDelete } from '../accept/compile-delete.ts';
import { coveredIds } from '../accept/covered-ids.ts';
import { AdaptiveBatchSize } from './adaptive-batch-size.ts';
import { matchingRows } from './barriers.ts';
import { closeOperations, countUnpublished, failOperations } from './close-operations.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import { expireRows } from './expire-rows.ts';
import { ALL_DOCUMENTS, supersedeFailed, sweepFailures } from './failures.ts';
import type { ReadyOperation } from './ready-operations.ts';
import { deleteAllTombstones, deletesEverything } from './tombstones.ts';
import { waitingIds } from './waiting-deletes.ts';

/** Documents per statement: some milliseconds on PGlite. */
const WINDOW = 5_000n;

/**
 * Applies a delete by query to all documents in the tables that were accepted before it, and leaves a barrier for those
 * that arrive later. The documents are scanned in windows, so that no statement takes long. After an interruption the
 * next commit starts again.
 *
 * A delete that cannot be run fails alone. What it has deleted stays deleted, and a retry deletes the rest.
 */
export async function applyDeleteByQuery(context: CommitContext, operation: ReadyOperation): Promise<void> {
  try {
    await deleteMatching(context, operation);
  } catch (error) {
    const refused = refusedDelete(error);
    if (refused === undefined) throw error;
    await failOperations(context, [{ operation, ...refused }]);
  }
}

async function deleteMatching(context: CommitContext, operation: ReadyOperation): Promise<void> {
  const { store, collection } = context;
  const S = collection.sqlSchema;
  // An invalid query also fails if there are no documents.
  compileDelete(context, operation.document ?? '', operation.acceptedAt, new Params());
  const deletesAll = deletesEverything(operation.document ?? '');
  if (deletesAll) await deleteAllTombstones(context);
  const leaves = operation.leavesTombstones && !deletesAll;
  const ranges = await store.engine.query<{ first: bigint | null; last: bigint | null }>(
    shardRanges(collection)
      .map(
        ({ from, to }) =>
          `select min(doc) as first, max(doc) as last from ${S}.documents where doc >= ${from} and doc < ${to}`,
      )
      .join(' union all '),
    [],
    'bulk',
  );
  const covered = coveredIds(operation.document ?? '');
  // A delete of everything, or of ids, does not depend on pending updates.
  const waiting = covered === undefined ? await waitingIds(context, operation.seq) : [];
  const batchSize = new AdaptiveBatchSize(100, 2_000);
  for (const { first, last } of ranges) {
    const end = (last ?? -1n) + 1n;
    for (let from = first ?? 0n; from < end; ) {
      from = await deleteWindow(context, operation, leaves, waiting, from, batchSize);
    }
  }
  await inCommit(context, async (tx) => {
    await tx.query(
      `insert into ${S}.barriers (seq, query, accepted_at, leaves_tombstones, skipped_ids)
       values ($1, $2, $3, $4, $5::text[])`,
      [
        operation.seq,
        covered === 'all' ? ALL_DOCUMENTS : operation.document,
        operation.acceptedAt,
        leaves,
        waiting.length === 0 ? null : textArray(waiting),
      ],
    );
    if (Array.isArray(covered)) {
      const { seq } = operation;
      const changes = covered.map((id) => ({ id, seq }));
      await supersedeFailed(tx, store, S, changes);
    }
    await closeOperations(tx, context, [operation], 'applied');
    await countUnpublished(tx, collection);
  });
  if (covered === 'all') await sweepFailures(store, collection);
}

/**
 * Deletes matches in one window of document numbers, at most one chunk of them. The window limits the scan if matches
 * are rare. The chunk limits the rows if they are dense.
 *
 * @returns where to continue
 */
async function deleteWindow(
  context: CommitContext,
  operation: ReadyOperation,
  leavesTombstones: boolean,
  waiting: readonly string[],
  from: bigint,
  batchSize: AdaptiveBatchSize,
): Promise<bigint> {
  const to = from + WINDOW;
  const limit = batchSize.rows;
  const inWindow = (params: Params) => {
    const others = waiting.length === 0 ? '' : `and d.id <> all (${params.add(textArray(waiting), 'text[]')})`;
    return `d.doc >= ${params.add(from, 'bigint')} and d.doc < ${params.add(to, 'bigint')} ${others}`;
  };
  const work = async (tx: Queryable) => {
    const rows = await matchingRows(tx, context, { ...operation, query: operation.document ?? '' }, inWindow, limit);
    const last = rows.at(-1);
    if (last === undefined) return to;
    await expireRows(tx, context, rows, leavesTombstones);
    return rows.length < limit ? to : last.doc + 1n;
  };
  return inCommit(context, (tx) => batchSize.measure(limit, () => work(tx)));
}
