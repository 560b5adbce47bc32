import type { ErrorCode } from '@akin/domain';
import { REPLACED, requireNoSwap, type Swap } from '../../database/collections/swap.ts';
import type { Collection } from '../../database/context.ts';
import { columnsOf, docsOf } from '../../database/engine/binary.ts';
import { removePictures } from '../../database/outputs/descriptor-rows.ts';
import { finishRequests } from '../accept/requests.ts';
import { countFailures } from '../commit/failures.ts';
import type { Store } from '../context.ts';

export interface Retried {
  /** Number of operations that are processed again. */
  readonly retried: number;
  /** Number of operations that are not, because a later one has replaced or deleted the same document. */
  readonly superseded: number;
  /** Number of operations that stay failed, because a later atomic update has changed the document without them. */
  readonly conflicting: number;
}

interface Position {
  readonly request: bigint;
  readonly position: number;
}

const CHUNK = 500;

/**
 * Retries failed operations, at their old position in the order: later accepted changes still come after them. An image
 * gets all its attempts again. Once a later atomic update is applied, there is no such position any more: the operation
 * stays failed, so that it is not forgotten.
 *
 * @param options.seq only this one
 * @param options.code only those that failed for this reason
 */
export async function retryFailed(
  store: Store,
  collection: Collection,
  options: { readonly seq?: number; readonly code?: ErrorCode } = {},
): Promise<Retried> {
  let retried = 0;
  let superseded = 0;
  let conflicting = 0;
  // From the first to the last once: what fails again meanwhile is not retried again.
  for (let after: Position | undefined = { request: 0n, position: 0 }; after !== undefined; ) {
    const chunk = await retryChunk(store, collection, options, after);
    for (const state of chunk.states) {
      if (state === 'superseded') superseded++;
      else if (state === 'failed') conflicting++;
      else retried++;
    }
    after = chunk.next;
  }
  if (retried + superseded > 0) store.events.notify(collection.id);
  return { retried, superseded, conflicting };
}

/** @returns the new state of each operation, and the last one if there may be more after it */
async function retryChunk(
  store: Store,
  collection: Collection,
  { seq, code }: { readonly seq?: number; readonly code?: ErrorCode },
  after: Position,
): Promise<{ readonly states: readonly string[]; readonly next: Position | undefined }> {
  const S = collection.sqlSchema;
  return store.engine.transaction(async (tx) => {
    const failed = await tx.query<Position & { id: string | null; code: string | null; seq: bigint }>(
      `select o.request, o.position, o.id, o.error_code as code, r.first_seq + o.position as seq
         from ${S}.operations o join ${S}.requests r using (request)
        where o.state = 'failed' and ($1::bigint is null or r.first_seq + o.position = $1)
          and ($2::text is null or o.error_code = $2) and (o.request, o.position) > ($3::int8, $4::int4)
        order by o.request, o.position limit ${CHUNK}`,
      [seq ?? null, code ?? null, after.request, after.position],
    );
    const next = failed.length < CHUNK ? undefined : failed.at(-1);
    if (failed.length === 0) return { states: [], next };
    const requests = [...new Set(failed.map(({ request }) => request))];
    // First, because the work that finishes requests also locks them first.
    await tx.query(`select 1 from ${S}.requests where request = any($1::bigint[]) order by request for update`, [
      requests,
    ]);
    await tx.query(`update ${S}.requests set finished = false where request = any($1::bigint[])`, [requests]);
    const rows = await tx.query<{ state: string; code: string | null; doc: bigint | null }>(
      `with failed as materialized (
         select * from unnest($1::bigint[], $2::int[], $3::text[], $4::bigint[], $5::text[])
                    as t (request, position, id, seq, code)
       ), later as (
         -- The tables of documents forget after a while that there was a later one.
         select f.request, f.position, bool_or(not l.atomic) as is_void
           from ${S}.operations l join ${S}.requests r using (request) join failed f on l.id = f.id
          where r.first_seq + l.position > f.seq
            -- An atomic update that is not applied yet waits for the retried operation.
            and (l.state in ('applied', 'superseded') or l.state <> 'failed' and not l.atomic)
          group by 1, 2
       )
       update ${S}.operations o
          set state = case when later.is_void then 'superseded'
                           -- What was analyzed, or needed no analysis, failed when it was applied.
                           when o.attempt = 0 or o.analysis is not null then 'ready'
                           else 'queued' end,
              applied_commit = case when later.is_void then 0 end,
              document = case when later.is_void then null else o.document end,
              analysis = case when later.is_void then null else o.analysis end,
              available_at = null, failed_attempts = 0, error_code = null, error_msg = null
         from failed left join later using (request, position)
        where o.request = failed.request and o.position = failed.position and o.state = 'failed'
          and later.is_void is distinct from false
       returning o.state, failed.code, o.doc`,
      columnsOf(failed, 'request', 'position', 'id', 'seq', 'code'),
    );
    const madeVoid = rows.filter(({ state }) => state === 'superseded');
    await removePictures(tx, store, S, docsOf(madeVoid));
    const codes = rows.map((row) => row.code);
    const conflicts = Array<string>(failed.length - rows.length).fill('failed');
    await countFailures(tx, S, codes, -1);
    await finishRequests(tx, collection, requests);
    // Not all changes are finished any more: see `recordAllFinished` of commits.
    const [row] = await tx.query<Pick<Swap, 'replaced'>>(
      `update akin.collections set settled_seq = null where id = $1 returning ${REPLACED}`,
      [collection.id],
    );
    if (row !== undefined) requireNoSwap(row);
    return { states: [...rows.map(({ state }) => state), ...conflicts], next };
  });
}
