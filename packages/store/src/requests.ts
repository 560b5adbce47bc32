import type { Collection } from './collections.ts';
import type { Queryable } from './engine/engine.ts';
import type { Store } from './store.ts';

/** Rows in one statement: some milliseconds on PGlite. */
const CHUNK = 500;

/** Removes a request that was never accepted, with all that it carries. */
export async function removeRequest(store: Store, collection: Collection, request: bigint): Promise<void> {
  const S = collection.sqlSchema;
  for (;;) {
    const docs = await store.engine.query<{ doc: bigint | null }>(
      `delete from ${S}.operations where request = $1
         and position in (select position from ${S}.operations where request = $1 order by position limit ${CHUNK})
       returning doc`,
      [request],
      'bulk',
    );
    await removePayloads(
      store,
      collection,
      docs.flatMap(({ doc }) => (doc === null ? [] : [doc])),
    );
    if (docs.length < CHUNK) break;
  }
  await store.engine.query(`delete from ${S}.requests where request = $1 and first_seq is null`, [request], 'bulk');
}

/** Removes outputs and thumbnails of operations that never become documents. */
async function removePayloads(store: Store, collection: Collection, docs: readonly bigint[]): Promise<void> {
  if (docs.length === 0) return;
  const S = collection.sqlSchema;
  await store.engine.transaction(
    async (tx) => {
      await tx.query(`delete from ${S}.outputs where doc = any($1::bigint[])`, [docs]);
      await tx.query(`delete from ${S}.thumbnails where doc = any($1::bigint[])`, [docs]);
    },
    { lane: 'bulk' },
  );
}

/** Marks those of some requests that have nothing left to do. */
export async function finishRequests(
  tx: Queryable,
  collection: Collection,
  requests: readonly bigint[],
): Promise<void> {
  const S = collection.sqlSchema;
  const open = (state: string) =>
    `not exists (select from ${S}.operations o where o.request = r.request and o.state = '${state}')`;
  await tx.query(
    `update ${S}.requests r set finished = true
      where r.request = any($1::bigint[]) and not r.finished and r.first_seq is not null
        and ${open('queued')} and ${open('analyzing')} and ${open('ready')}`,
    [requests],
  );
}
