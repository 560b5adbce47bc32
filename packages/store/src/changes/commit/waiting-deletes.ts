import { OPEN_STATES } from '../../database/collections/collection-tables.ts';
import { textArray } from '../../database/engine/binary.ts';
import type { Params } from '../../search/params.ts';
import { openAtomic } from './atomic.ts';
import { applyBarrier, BARRIER_COLUMNS, failRefusedBarrier, matchingRows, type QueryBarrier } from './barriers.ts';
import { countUnpublished } from './close-operations.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import { expireRows } from './expire-rows.ts';

/*
 * An atomic update may wait for the analysis of an earlier change of its document. A later delete by query cannot know
 * yet whether it will match the updated document: it skips the id, and records it in its barrier. When no earlier
 * atomic update of the id waits any more, the delete is applied to the document as it is then.
 */

/** The ids of pending atomic updates that were accepted before a delete by query. @param seq number of the delete */
export async function waitingIds({ store, collection }: CommitContext, seq: bigint): Promise<string[]> {
  const S = collection.sqlSchema;
  const rows = await store.engine.query<{ id: string }>(
    `select distinct o.id from ${S}.operations o join ${S}.requests r using (request)
      where o.atomic and o.state in ${OPEN_STATES} and r.first_seq + o.position < $1`,
    [seq],
    'bulk',
  );
  return rows.map(({ id }) => id);
}

/**
 * Applies deletes by query to the documents that they had to skip, if those no longer wait. The last step of a commit
 * before it is published.
 */
export async function applyWaitingDeletes(context: CommitContext): Promise<void> {
  const { store, collection } = context;
  const S = collection.sqlSchema;
  const barriers = await store.engine.query<WaitingDelete>(
    `select ${BARRIER_COLUMNS}, ready.ids
       from ${S}.barriers b
      cross join lateral (
        select array_agg(w.id) as ids from unnest(b.skipped_ids) w (id) where not ${openAtomic(S, 'w.id', 'b.seq')}
      ) ready
      where skipped_ids is not null and ready.ids is not null order by seq`,
    [],
    'bulk',
  );
  for (const barrier of barriers) {
    try {
      await applyWaiting(context, barrier);
    } catch (error) {
      if (!(await failRefusedBarrier(context, error))) throw error;
    }
  }
}

interface WaitingDelete extends QueryBarrier {
  /** The skipped ids without an earlier atomic update that waits. */
  readonly ids: readonly string[];
}

async function applyWaiting(context: CommitContext, barrier: WaitingDelete): Promise<void> {
  const { seq, leavesTombstones, ids } = barrier;
  const { collection } = context;
  const S = collection.sqlSchema;
  await inCommit(context, async (tx) => {
    await applyBarrier(barrier, async () => {
      const among = (params: Params) => `d.id = any(${params.add(textArray(ids), 'text[]')})`;
      const rows = await matchingRows(tx, context, barrier, among);
      await expireRows(tx, context, rows, leavesTombstones);
      // Otherwise nothing would be published if nothing else was applied.
      if (rows.length > 0) await countUnpublished(tx, collection);
    });
    await tx.query(
      `update ${S}.barriers
          set skipped_ids = nullif(array(select id from unnest(skipped_ids) w (id)
                                         where id <> all ($2::text[])), '{}')
        where seq = $1 and query is not null`,
      [seq, textArray(ids)],
    );
  });
}
