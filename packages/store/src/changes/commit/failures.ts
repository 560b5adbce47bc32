import type { Collection } from '../../database/context.ts';
import { columnsOf, docsOf } from '../../database/engine/binary.ts';
import { BULK, type Queryable } from '../../database/engine/engine.ts';
import { remembered } from '../../database/memory.ts';
import { removePictures } from '../../database/outputs/descriptor-rows.ts';
import type { Store } from '../context.ts';

/*
 * Failed operations are counted as they fail, in rows of `failure_counts` that maintenance adds up: a status of a
 * million failures reads a few rows. A failure that a later change of the same document has made void is superseded,
 * and no longer counts.
 */

/** Number of failures that one statement reads: some milliseconds on PGlite. */
const BATCH = 1_000;
const MAX_BATCHES = 20;

/** The stored query of a barrier that deletes all documents, however it was written. */
export const ALL_DOCUMENTS = '*:*';

/** Counts failures, or those that are none any more (-1), by reason. A missing code counts as internal. */
export async function countFailures(
  tx: Queryable,
  S: string,
  codes: readonly (string | null)[],
  each: 1 | -1 = 1,
): Promise<void> {
  if (codes.length === 0) return;
  await tx.query(
    `insert into ${S}.failure_counts (code, delta) select code, $2::int * count(*) from unnest($1::text[]) code group by code`,
    [codes.map((code) => code ?? 'internal'), each],
  );
}

/** Adds up the rows of `failure_counts`, so that there are few. */
export async function compactFailures(store: Store, { sqlSchema: S }: Collection): Promise<void> {
  await store.engine.query(
    `with gone as (delete from ${S}.failure_counts where (select count(*) from ${S}.failure_counts) > 100
                   returning code, delta)
     insert into ${S}.failure_counts (code, delta)
     select code, sum(delta) from gone group by code having sum(delta) <> 0`,
    [],
    'bulk',
  );
}

/** Supersedes earlier failures on the ids of some changes that take effect. */
export async function supersedeFailed(
  tx: Queryable,
  store: Store,
  S: string,
  changes: readonly { readonly id: string; readonly seq: bigint }[],
): Promise<void> {
  // Reads first: usually nothing has failed at all.
  const [row] = await tx.query<{ some: boolean }>(
    `select exists (select from ${S}.operations where state = 'failed') as some`,
  );
  if (!row?.some || changes.length === 0) return;
  // Further failures of one document are left to housekeeping.
  await supersede(
    tx,
    store,
    S,
    `select o.request, o.position from unnest($1::text[], $2::bigint[]) as t (id, seq)
       join ${S}.operations o on o.id = t.id and o.state = 'failed' join ${S}.requests r using (request)
      where r.first_seq + o.position < t.seq limit ${BATCH}`,
    columnsOf(changes, 'id', 'seq'),
  );
}

/** Where housekeeping of the failures of a collection continues. */
interface SweepCursor {
  readonly request: bigint;
  readonly position: number;
}

const sweepsOf = remembered<SweepCursor>();

/**
 * Supersedes failures that a later change has made void: those recorded after that change took effect, and those that a
 * delete of everything covers. Checks a limited number of failures; the next call continues there.
 *
 * @returns whether there are more to check
 */
export async function sweepFailures(store: Store, collection: Collection): Promise<boolean> {
  const sweeps = sweepsOf(store);
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const sweep = (tx: Queryable) => sweepBatch(tx, store, collection.sqlSchema, sweeps.get(collection.id));
    const last = await store.engine.transaction(sweep, BULK);
    if (last === undefined) {
      sweeps.delete(collection.id);
      return false;
    }
    sweeps.set(collection.id, last);
  }
  return true;
}

/** @returns where to continue; undefined at the end */
async function sweepBatch(
  tx: Queryable,
  store: Store,
  S: string,
  cursor: SweepCursor = { request: 0n, position: -1 },
): Promise<SweepCursor | undefined> {
  const rows = await tx.query<SweepCursor & { covered: boolean }>(
    `select o.request, o.position, coalesce(o.id is not null and (
              exists (select from ${S}.documents d where d.id = o.id and d.seq > r.first_seq + o.position
                       -- An atomic update does not make earlier failures void.
                       and not exists (select from ${S}.requests mr join ${S}.operations m using (request)
                                        where mr.first_seq = (select max(first_seq) from ${S}.requests where first_seq <= d.seq)
                                          and m.position = d.seq - mr.first_seq and m.atomic))
              or exists (select from ${S}.barriers b where b.id = o.id and b.seq > r.first_seq + o.position)
              or exists (select from ${S}.barriers b where b.query = '${ALL_DOCUMENTS}' and b.seq > r.first_seq + o.position)),
            false) as covered
       from (select request, position, id from ${S}.operations
              where state = 'failed' and (request, position) > ($1, $2) order by request, position limit ${BATCH}) o
       join ${S}.requests r using (request)
      order by o.request, o.position`,
    [cursor.request, cursor.position],
  );
  const covered = rows.filter((row) => row.covered);
  if (covered.length > 0) {
    await supersede(
      tx,
      store,
      S,
      'select * from unnest($1::bigint[], $2::int[]) as t (request, position)',
      columnsOf(covered, 'request', 'position'),
    );
  }
  const end = rows.length === BATCH ? rows.at(-1) : undefined;
  return end && { request: end.request, position: end.position };
}

/** Supersedes failed operations. @param covered SQL that selects their `request` and `position` */
export async function supersede(
  tx: Queryable,
  store: Store,
  S: string,
  covered: string,
  params: Parameters<Queryable['query']>[1] = [],
): Promise<void> {
  const rows = await tx.query<{ doc: bigint | null }>(
    `with covered as materialized (${covered}),
          failed as materialized (
            select o.request, o.position, coalesce(o.error_code, 'internal') as code
              from covered join ${S}.operations o using (request, position) where o.state = 'failed'
             order by o.request, o.position for update of o),
          superseded as (
            update ${S}.operations o
               set state = 'superseded', applied_commit = 0, document = null, analysis = null, error_code = null, error_msg = null
              from failed f where o.request = f.request and o.position = f.position
            returning o.doc, f.code),
          counted as (
            insert into ${S}.failure_counts (code, delta) select code, -count(*) from superseded group by code)
     select doc from superseded`,
    params,
  );
  await removePictures(tx, store, S, docsOf(rows));
}
