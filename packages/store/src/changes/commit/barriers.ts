import { AkinError } from '@akin/domain';
import { LIVE } from '../../database/collections/collection-tables.ts';
import { docsOf } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { Params } from '../../search/params.ts';
import { compileDelete, type RefusedDelete, refusedDelete } from '../accept/compile-delete.ts';
import { openAtomic } from './atomic.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import { countCrashes } from './crashes.ts';
import type { DescriptorChanges } from './descriptor-counts.ts';
import { type LiveRow, removeUnpublished } from './expire-rows.ts';
import { countFailures } from './failures.ts';
import type { ReadyOperation } from './ready-operations.ts';
import { writeTombstones } from './tombstones.ts';

/**
 * Applies deletes by query again to documents that were accepted before them and arrive only now, because their
 * analysis took longer. Deletes by id and replacements do not need this: such documents were found superseded before.
 *
 * @param added operations whose documents were just inserted, unpublished
 * @param changes gets the removed descriptors
 * @returns the rows that were removed again
 */
export async function applyBarriers(
  tx: Queryable,
  context: CommitContext,
  added: readonly ReadyOperation[],
  changes: DescriptorChanges,
): Promise<Pick<LiveRow, 'bytes'>[]> {
  if (added.length === 0) return [];
  const S = context.collection.sqlSchema;
  const barriers = await tx.query<QueryBarrier>(
    `select ${BARRIER_COLUMNS} from ${S}.barriers
      where seq > any($1::bigint[]) and query is not null order by seq`,
    [added.map(({ seq }) => seq)],
  );
  const hidden: Pick<LiveRow, 'bytes'>[] = [];
  for (const barrier of barriers) {
    const late = docsOf(added.filter(({ seq }) => seq < barrier.seq));
    // A document with a pending atomic update that was accepted before the barrier is left out.
    const isLate = (params: Params) =>
      `d.doc = any(${params.add(late, 'bigint[]')}) and not ${openAtomic(S, 'd.id', params.add(barrier.seq, 'bigint'))}`;
    const found = await applyBarrier(barrier, () => matchingRows(tx, context, barrier, isLate));
    const gone = docsOf(found);
    await changes.remove(tx, context, gone);
    if (barrier.leavesTombstones && gone.length > 0)
      await writeTombstones(tx, context, 'd.doc = any($1::bigint[])', [gone]);
    await removeUnpublished(tx, context, gone);
    hidden.push(...found);
  }
  return hidden;
}

/** A delete by query that was applied. */
export interface QueryBarrier {
  readonly seq: bigint;
  readonly query: string;
  readonly acceptedAt: Date;
  readonly leavesTombstones: boolean;
}

export const BARRIER_COLUMNS = 'seq, query, accepted_at as "acceptedAt", leaves_tombstones as "leavesTombstones"';

/** The error if a delete by query was applied before, but cannot be applied to a document that came late. */
class BarrierRefusedError extends Error {
  readonly barrier: QueryBarrier;
  readonly refused: RefusedDelete;

  constructor(barrier: QueryBarrier, refused: RefusedDelete) {
    super(refused.msg);
    this.barrier = barrier;
    this.refused = refused;
  }
}

/** Applies a barrier. @throws an error for {@link failRefusedBarrier} if the delete cannot be run */
export async function applyBarrier<T>(barrier: QueryBarrier, apply: () => Promise<T>): Promise<T> {
  try {
    return await apply();
  } catch (error) {
    const refused = refusedDelete(error);
    throw refused === undefined ? error : new BarrierRefusedError(barrier, refused);
  }
}

/**
 * The live rows that a delete by query matches, of documents that were accepted before it.
 *
 * @param among which rows `d` of `documents`, as SQL
 * @param limit maximum number, from the least number of a document on
 */
export function matchingRows(
  tx: Queryable,
  context: CommitContext,
  { seq, query, acceptedAt }: Omit<QueryBarrier, 'leavesTombstones'>,
  among: (params: Params) => string,
  limit?: number,
): Promise<LiveRow[]> {
  const params = new Params();
  const sql = `select d.doc, d.valid_from, d.bytes from ${context.collection.sqlSchema}.documents d
    where ${among(params)} and d.valid_to = ${LIVE} and d.seq < ${params.add(seq, 'bigint')}
      and ${compileDelete(context, query, acceptedAt, params)}
    ${limit === undefined ? '' : `order by d.doc limit ${limit}`}`;
  return countCrashes(context, seq, () => tx.query<LiveRow>(sql, params.values));
}

/**
 * Makes a delete by query fail, because documents that came late could not be applied with it: the caller applies them
 * without it. Documents that it has deleted stay deleted. The delete can be retried.
 *
 * @param error the error of the transaction that {@link applyBarriers} was a part of
 * @returns false for any other error
 */
export async function failRefusedBarrier(context: CommitContext, error: unknown): Promise<boolean> {
  const cause = error instanceof AkinError ? error.cause : error;
  if (!(cause instanceof BarrierRefusedError)) return false;
  const S = context.collection.sqlSchema;
  const { barrier, refused } = cause;
  const failed = await inCommit(context, async (tx) => {
    await tx.query(`delete from ${S}.barriers where seq = $1 and query is not null`, [barrier.seq]);
    // The operation may no longer exist: those that were applied are removed after a while.
    const rows = await tx.query(
      `update ${S}.operations o set state = 'failed', document = $2, applied_commit = null, error_code = $3, error_msg = $4
         from ${S}.requests r
        where r.request = o.request and r.first_seq + o.position = $1 and o.kind = 'delete-by-query' and o.state <> 'failed'
          and r.first_seq = (select max(first_seq) from ${S}.requests where first_seq <= $1)
       returning 1`,
      [barrier.seq, barrier.query, refused.code, refused.msg],
    );
    const codes = rows.map(() => refused.code);
    await countFailures(tx, S, codes);
    // None if the delete had failed before.
    return rows.length;
  });
  context.failures.count += failed;
  return true;
}
