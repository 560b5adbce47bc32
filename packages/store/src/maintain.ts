import { type Collection, dropReplaced, listCollections } from './collections.ts';
import { keepFieldIndexes } from './field-indexes.ts';
import { leaveGroups } from './groups/leave.ts';
import { Pace } from './pace.ts';
import { removeDocuments } from './remove-documents.ts';
import { forgetRequest } from './requests.ts';
import { refreshStatistics } from './statistics.ts';
import type { Store } from './store.ts';

/** Finished operations are listed for so long. */
const KEPT_DAYS = 7;

/**
 * The housekeeping that nobody waits for, in short pieces: rows that a commit replaced a while ago, barriers that
 * nothing earlier is left for, operations that were finished long ago; indexes on fields that searches use, statistics,
 * and what makes searches as quick as before a commit. To be called every few seconds, or after commits,
 * by one process at a time for each collection.
 *
 * @param collections all of them when not given
 */
export async function maintain(store: Store, collections?: readonly Collection[]): Promise<void> {
  await dropReplaced(store);
  for (const collection of collections ?? (await listCollections(store))) {
    const lowWater = await lowestOpenSeq(store, collection);
    await removeOldRows(store, collection, lowWater);
    await removeBarriers(store, collection, lowWater);
    await forgetOldRequests(store, collection);
    await keepFieldIndexes(store, collection);
    await refreshStatistics(store, collection);
  }
}

/** Failed operations may be tried again, and have to find what was deleted after them. */
async function removeBarriers(store: Store, collection: Collection, lowWater: bigint): Promise<void> {
  const S = collection.sqlSchema;
  await store.engine.query(
    `delete from ${S}.barriers where seq < $1 and seq < coalesce(
       (select min(r.first_seq) from ${S}.operations o join ${S}.requests r using (request) where o.state = 'failed'),
       $1)`,
    [lowWater],
    'bulk',
  );
}

/** No operation below this sequence number will be applied any more. */
async function lowestOpenSeq(store: Store, collection: Collection): Promise<bigint> {
  const [row] = await store.engine.query<{ seq: bigint }>(
    `select coalesce((select min(first_seq) from ${collection.sqlSchema}.requests where not finished and first_seq is not null), next_seq) as seq
       from akin.collections where id = $1`,
    [collection.id],
  );
  return row?.seq ?? 0n;
}

/**
 * Removes rows that no search can see any more. A row stays while earlier operations are under way: one on the same id
 * has to find out that it came too late.
 */
async function removeOldRows(store: Store, collection: Collection, lowWater: bigint): Promise<void> {
  const S = collection.sqlSchema;
  const [row] = await store.engine.query<{ commit: bigint | null }>(
    `select case when max(number) is not null then
              least(max(number), (select min(commit) from akin.pins where collection = $2 and until > now())) end as commit
       from ${S}.commits where at <= now() - $1 * interval '1 millisecond'`,
    [store.graceMilliseconds, collection.id],
  );
  const commit = row?.commit ?? 0n;
  const pace = new Pace(50, 2_000);
  for (let count = Number.POSITIVE_INFINITY; count > 0; ) {
    const limit = pace.rows;
    const began = performance.now();
    count = await store.engine.transaction(
      (tx) =>
        pace.measure(limit, async () => {
          const rows = await tx.query<{ doc: bigint }>(
            `select doc from ${S}.documents where vt <= $1 and seq < $2 order by vt limit $3`,
            [commit, lowWater, limit],
          );
          const docs = rows.map(({ doc }) => doc);
          await leaveGroups(tx, collection, docs);
          await removeDocuments(tx, store, collection, docs);
          return rows.length;
        }),
      { lane: 'bulk', keyed: true },
    );
    await store.brake.rest(performance.now() - began);
  }
  await store.engine.query(`delete from ${S}.commits where number < $1`, [commit], 'bulk');
}

/** Those with failed operations stay until somebody dealt with them. */
async function forgetOldRequests(store: Store, collection: Collection): Promise<void> {
  const S = collection.sqlSchema;
  const rows = await store.engine.query<{ request: bigint }>(
    `select r.request from ${S}.requests r
      where r.finished and r.accepted_at < now() - interval '${KEPT_DAYS} days'
        and not exists (select from ${S}.operations o where o.request = r.request and o.state = 'failed')
      order by r.first_seq limit 1000`,
  );
  for (const { request } of rows) await forgetRequest(store, collection, request);
}
