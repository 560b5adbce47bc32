import { forgetRequest } from '../changes/accept/requests.ts';
import { AdaptiveBatchSize } from '../changes/commit/adaptive-batch-size.ts';
import { removeDocuments } from '../changes/commit/expire-rows.ts';
import { compactFailures, sweepFailures } from '../changes/commit/failures.ts';
import { forgetOldTombstones } from '../changes/commit/tombstones.ts';
import type { Store } from '../changes/context.ts';
import { LIVE } from '../database/collections/collection-tables.ts';
import { maintainFieldIndexes } from '../database/collections/field-indexes.ts';
import type { Collection } from '../database/context.ts';
import { docsOf } from '../database/engine/binary.ts';
import { BULK, type Queryable } from '../database/engine/engine.ts';
import { expireTrash } from './expire-trash.ts';
import { removeFromGroups } from './groups/remove-from-groups.ts';
import { removePartPairs } from './groups/update-part-pairs.ts';
import { deleteUnaccepted } from './recover.ts';
import { refreshStatistics } from './statistics.ts';

/** A request that started longer ago than this and was not accepted was abandoned by its client or gateway. */
const ABANDONED_MILLISECONDS = 6 * 60 * 60_000;
/** How long finished operations are listed. */
const KEPT_DAYS = 7;
const MAX_FORGOTTEN = 1_000;
/** How long a commit counts as recent: PostgreSQL publishes statistics of its tables a few seconds late. */
const FRESH = "interval '1 minute'";

/**
 * The background housekeeping, in short pieces: it removes abandoned requests, rows that a commit replaced, barriers
 * without earlier pending operations, failures that a later change has made void, and old finished operations. It
 * deletes what has been in a trash for too long. It also builds indexes on fields that searches use, updates statistics,
 * and restores the speed of searches after a commit. Call it every few seconds, or after commits, in one process at a
 * time for each collection.
 *
 * @param signal ends it between two pieces
 * @returns whether nothing is left to do until the collection changes, except work that comes within hours
 * @throws the reason of the signal
 */
export async function maintainCollection(store: Store, collection: Collection, signal?: AbortSignal): Promise<boolean> {
  await deleteUnaccepted(store, collection, ABANDONED_MILLISECONDS);
  const { lowWater, isFresh } = await readProgress(store, collection);
  await expireTrash(store, collection);
  await compactFailures(store, collection);
  await removeBarriers(store, collection, lowWater);
  const left = [
    isFresh,
    await sweepFailures(store, collection),
    await removeOldRows(store, collection, lowWater, signal),
    await forgetOldRequests(store, collection),
    await forgetOldTombstones(store, collection),
    await maintainFieldIndexes(store, collection),
    await refreshStatistics(store, collection),
  ];
  return !left.includes(true);
}

/**
 * Removes barriers without earlier pending operations. Failed operations count as pending: after a retry they must see
 * the deletes that were accepted after them. The statement that removes reads both kinds itself, so that no retry comes
 * in between.
 */
async function removeBarriers(store: Store, collection: Collection, lowWater: bigint): Promise<void> {
  const S = collection.sqlSchema;
  await store.engine.query(
    `delete from ${S}.barriers where skipped_ids is null and seq < least($1::int8,
       (select min(first_seq) from ${S}.requests where not finished),
       (select min(r.first_seq) from ${S}.operations o join ${S}.requests r using (request) where o.state = 'failed'))`,
    [lowWater],
    'bulk',
  );
}

interface Progress {
  /** No operation below this sequence number will be applied. */
  readonly lowWater: bigint;
  /** Whether there was a commit a moment ago. */
  readonly isFresh: boolean;
}

async function readProgress(store: Store, collection: Collection): Promise<Progress> {
  const [row] = await store.engine.query<Progress>(
    `select coalesce((select min(first_seq) from ${collection.sqlSchema}.requests where not finished and first_seq is not null), next_seq) as "lowWater",
            coalesce(committed_at > now() - ${FRESH}, false) as "isFresh"
       from akin.collections where id = $1`,
    [collection.id],
  );
  return row ?? { lowWater: 0n, isFresh: false };
}

/**
 * Removes rows that no search can see. A row stays while operations that were accepted before it are pending: one with
 * the same id finds the row, and is therefore not applied.
 *
 * @returns whether rows remain to be removed, or the space of removed rows remains to be freed
 */
async function removeOldRows(
  store: Store,
  collection: Collection,
  lowWater: bigint,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const S = collection.sqlSchema;
  const [row] = await store.engine.query<{ commit: bigint | null }>(
    `select case when max(number) is not null then
              least(max(number), (select min(commit) from akin.pins
                                   where collection = $2 and expires_at > now())) end as commit
       from ${S}.commits where committed_at <= now() - $1 * interval '1 millisecond'`,
    [store.graceMilliseconds, collection.id],
  );
  const commit = row?.commit ?? 0n;
  // The commits are removed before the rows: a reader of an earlier commit detects by this that rows may be missing.
  await store.engine.query(`delete from ${S}.commits where number < $1`, [commit], 'bulk');
  const batchSize = new AdaptiveBatchSize(50, 2_000);
  let removed = 0;
  for (let count = Number.POSITIVE_INFINITY; count > 0; ) {
    signal?.throwIfAborted();
    const limit = batchSize.rows;
    const began = performance.now();
    const remove = async (tx: Queryable) => {
      const rows = await tx.query<{ doc: bigint }>(
        `select doc from ${S}.documents where valid_to <= $1 and seq < $2 order by valid_to limit $3`,
        [commit, lowWater, limit],
      );
      const docs = docsOf(rows);
      await removeFromGroups(tx, collection, docs);
      await removePartPairs(tx, collection, docs);
      await removeDocuments(tx, { store, collection }, docs);
      return rows.length;
    };
    count = await store.engine.transaction((tx) => batchSize.measure(limit, () => remove(tx)), BULK);
    removed += count;
    await store.throttle.pauseAfter(performance.now() - began, signal);
  }
  const [left] = await store.engine.query<{ some: boolean }>(
    `select exists (select from ${S}.documents where valid_to < ${LIVE}) as some`,
  );
  return removed > 0 || left?.some === true;
}

/** Requests with failed operations stay until somebody retries them. @returns whether there may be more */
async function forgetOldRequests(store: Store, collection: Collection): Promise<boolean> {
  const S = collection.sqlSchema;
  const rows = await store.engine.query<{ request: bigint }>(
    `select r.request from ${S}.requests r
      where r.finished and r.accepted_at < now() - interval '${KEPT_DAYS} days'
        and not exists (select from ${S}.operations o where o.request = r.request and o.state = 'failed')
      order by r.first_seq limit ${MAX_FORGOTTEN}`,
  );
  for (const { request } of rows) await forgetRequest(store, collection, request);
  return rows.length === MAX_FORGOTTEN;
}
