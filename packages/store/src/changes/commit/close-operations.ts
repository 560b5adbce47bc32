import type { ErrorCode } from '@akin/domain';
import type { Collection } from '../../database/context.ts';
import { columnsOf, intArray, longArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import { countFailures } from './failures.ts';
import type { ReadyOperation } from './ready-operations.ts';

export interface Failure {
  readonly operation: ReadyOperation;
  readonly code: ErrorCode;
  readonly msg: string;
}

/** Ends operations in the transaction of their chunk. Their contents are cleared: they are in the tables, or void. */
export async function closeOperations(
  tx: Queryable,
  { collection, target }: CommitContext,
  closed: readonly ReadyOperation[],
  state: 'applied' | 'superseded',
): Promise<void> {
  if (closed.length === 0) return;
  await tx.query(
    `update ${collection.sqlSchema}.operations o set state = $3, applied_commit = $4, document = null,
            analysis = null
       from unnest($1::bigint[], $2::int[]) as t (request, position)
      where o.request = t.request and o.position = t.position`,
    [longArray(closed.map(({ request }) => request)), intArray(closed.map(({ position }) => position)), state, target],
  );
}

/** Ends operations that failed, in a transaction of its own, and counts them. They keep their contents, for a retry. */
export async function failOperations(context: CommitContext, failures: readonly Failure[]): Promise<void> {
  const S = context.collection.sqlSchema;
  const operations = failures.map(({ operation }) => operation);
  await inCommit(context, async (tx) => {
    await tx.query(
      `update ${S}.operations o set state = 'failed', error_code = t.code, error_msg = t.msg
         from unnest($1::bigint[], $2::int[], $3::text[], $4::text[]) as t (request, position, code, msg)
        where o.request = t.request and o.position = t.position`,
      [...columnsOf(operations, 'request', 'position'), ...columnsOf(failures, 'code', 'msg')],
    );
    const codes = failures.map(({ code }) => code);
    await countFailures(tx, S, codes);
  });
  context.failures.count += failures.length;
}

/** Counts a delete by query that has taken effect. */
export async function countUnpublished(tx: Queryable, { id }: Collection): Promise<void> {
  await tx.query('update akin.collections set unpublished_operations = unpublished_operations + 1 where id = $1', [id]);
}
