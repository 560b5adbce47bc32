import { AkinError } from '@akin/domain';
import { closeOperations, failOperations } from './apply.ts';
import { LIVE } from './collection-tables.ts';
import type { CommitContext } from './commit-context.ts';
import { compileDelete } from './compile-delete.ts';
import { countDescribed } from './described.ts';
import type { Queryable } from './engine/engine.ts';
import { requireLease } from './leases.ts';
import { Pace } from './pace.ts';
import type { ReadyOperation } from './ready-operations.ts';
import { removeUnpublished } from './remove-documents.ts';
import { Params } from './search/params.ts';

/** Documents that one statement looks at: some milliseconds on PGlite. */
const WINDOW = 5_000n;

/**
 * Applies a delete by query to everything that was accepted before it and is in the tables by now; what comes later
 * finds it as a barrier. It walks over the documents in windows, so that no statement takes long; cut off, it begins
 * again in the next commit.
 *
 * @returns how many failed: 0 or 1
 */
export async function applyDeleteByQuery(context: CommitContext, operation: ReadyOperation): Promise<number> {
  const { store, collection } = context;
  const S = collection.sqlSchema;
  try {
    compileDelete(context, operation.document ?? '', operation.acceptedAt, new Params());
  } catch (error) {
    if (!(error instanceof AkinError) || error.code === 'internal') throw error;
    await failOperations(context, [{ operation, code: error.code, msg: error.message }]);
    return 1;
  }
  const [range] = await store.engine.query<{ first: bigint | null; last: bigint | null }>(
    `select min(doc) as first, max(doc) as last from ${S}.documents`,
    [],
    'bulk',
  );
  const pace = new Pace(100, 2_000);
  const end = (range?.last ?? -1n) + 1n;
  for (let from = range?.first ?? 0n; from < end; ) {
    from = await deleteWindow(context, operation, from, pace);
  }
  await store.engine.transaction(
    async (tx) => {
      await requireLease(tx, collection, context.lease);
      await tx.query(`insert into ${S}.barriers (seq, query, accepted_at) values ($1, $2, $3)`, [
        operation.seq,
        operation.document,
        operation.acceptedAt,
      ]);
      await closeOperations(tx, context, [{ operation }], 'applied');
      await tx.query('update akin.collections set unpublished_operations = unpublished_operations + 1 where id = $1', [
        collection.id,
      ]);
    },
    { lane: 'bulk', keyed: true },
  );
  return 0;
}

/** @returns where the next window begins: what matches may be dense here and rare there, so both ends are bounded */
async function deleteWindow(
  context: CommitContext,
  operation: ReadyOperation,
  from: bigint,
  pace: Pace,
): Promise<bigint> {
  const { store, collection, target } = context;
  const S = collection.sqlSchema;
  const to = from + WINDOW;
  const limit = pace.rows;
  const params = new Params();
  const found = `select d.doc, d.vf from ${S}.documents d
    where d.doc >= ${params.add(from, 'bigint')} and d.doc < ${params.add(to, 'bigint')}
      and d.vt = ${LIVE} and d.seq < ${params.add(operation.seq, 'bigint')}
      and ${compileDelete(context, operation.document ?? '', operation.acceptedAt, params)}
    order by d.doc limit ${limit}`;
  const work = async (tx: Queryable) => {
    await requireLease(tx, collection, context.lease);
    const rows = await tx.query<{ doc: bigint; vf: bigint }>(found, params.values);
    const last = rows.at(-1);
    if (last === undefined) return to;
    await countDescribed(
      tx,
      context,
      rows.map(({ doc }) => doc),
      -1,
    );
    const published = rows.filter(({ vf }) => vf < target).map(({ doc }) => doc);
    const unpublished = rows.filter(({ vf }) => vf === target).map(({ doc }) => doc);
    await tx.query(`update ${S}.documents set vt = $2 where doc = any($1::bigint[])`, [published, target]);
    await removeUnpublished(tx, store, collection, unpublished);
    await tx.query('update akin.collections set unpublished_documents = unpublished_documents - $2 where id = $1', [
      collection.id,
      rows.length,
    ]);
    return rows.length < limit ? to : last.doc + 1n;
  };
  return store.engine.transaction((tx) => pace.measure(limit, () => work(tx)), { lane: 'bulk', keyed: true });
}
