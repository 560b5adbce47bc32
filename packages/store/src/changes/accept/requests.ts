import type { Collection } from '../../database/context.ts';
import { docsOf } from '../../database/engine/binary.ts';
import { BULK, type Queryable } from '../../database/engine/engine.ts';
import { removePictures } from '../../database/outputs/descriptor-rows.ts';
import type { Store } from '../context.ts';

/** Rows of one statement: some milliseconds on PGlite. */
const CHUNK = 500;

/**
 * Removes a request that was not accepted, with all its rows. Does nothing if it was: the process that accepted it may
 * have lost its connection before it knew.
 */
export async function removeRequest(store: Store, collection: Collection, request: bigint): Promise<void> {
  const S = collection.sqlSchema;
  // From now on it cannot be accepted. A request that was removed already may have got rows since.
  const [open] = await store.engine.query<{ removable: boolean }>(
    `with closed as (update ${S}.requests set finished = true where request = $1 and first_seq is null returning 1)
     select exists (select from closed) or not exists (select from ${S}.requests where request = $1) as removable`,
    [request],
    'bulk',
  );
  if (open?.removable !== true) return;
  for (let count = Number.POSITIVE_INFINITY; count > 0; ) {
    count = await store.engine.transaction(async (tx) => {
      const rows = await deleteOperations(tx, collection, request);
      await removePictures(tx, store, S, docsOf(rows));
      return rows.length;
    }, BULK);
  }
  await store.engine.query(`delete from ${S}.requests where request = $1 and first_seq is null`, [request], 'bulk');
}

/** Removes a finished request with its operations. Its documents stay. */
export async function forgetRequest(store: Store, collection: Collection, request: bigint): Promise<void> {
  for (let count = Number.POSITIVE_INFINITY; count > 0; ) {
    const rows = await store.engine.transaction((tx) => deleteOperations(tx, collection, request), BULK);
    count = rows.length;
  }
  await store.engine.query(`delete from ${collection.sqlSchema}.requests where request = $1`, [request], 'bulk');
}

async function deleteOperations(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  request: bigint,
): Promise<{ doc: bigint | null }[]> {
  return tx.query(
    `delete from ${S}.operations where request = $1
       and position in (select position from ${S}.operations where request = $1 order by position limit ${CHUNK})
     returning doc`,
    [request],
  );
}

/** Marks accepted requests as finished that have no open operation. */
export async function finishRequests(
  tx: Queryable,
  collection: Collection,
  requests: readonly bigint[],
): Promise<void> {
  const S = collection.sqlSchema;
  // Locks first: the next statement then sees what other transactions have committed before.
  await tx.query(
    `select 1 from ${S}.requests where request = any($1::bigint[]) and not finished order by request for update`,
    [requests],
  );
  const open = (state: string) =>
    `not exists (select from ${S}.operations o where o.request = r.request and o.state = '${state}')`;
  await tx.query(
    `update ${S}.requests r set finished = true
      where r.request = any($1::bigint[]) and not r.finished and r.first_seq is not null
        and ${open('queued')} and ${open('analyzing')} and ${open('ready')}`,
    [requests],
  );
}
