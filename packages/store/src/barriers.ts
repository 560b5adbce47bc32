import type { CommitContext } from './commit-context.ts';
import { compileDelete } from './compile-delete.ts';
import { countDescribed } from './described.ts';
import type { Queryable } from './engine/engine.ts';
import type { ReadyOperation } from './ready-operations.ts';
import { removeUnpublished } from './remove-documents.ts';
import { Params } from './search/params.ts';

/**
 * Applies deletes by query again that were accepted after documents which arrive only now, because their analysis took
 * longer. Deletes by id and replacements need no such thing: those documents were found superseded before.
 *
 * @param added just inserted, unpublished
 * @returns how many of them are gone again
 */
export async function applyBarriers(
  tx: Queryable,
  context: CommitContext,
  added: readonly ReadyOperation[],
): Promise<number> {
  if (added.length === 0) return 0;
  const { store, collection } = context;
  const S = collection.sqlSchema;
  const barriers = await tx.query<{ seq: bigint; query: string; accepted_at: Date }>(
    `select seq, query, accepted_at from ${S}.barriers where seq > any($1::bigint[]) and query is not null order by seq`,
    [added.map(({ seq }) => seq)],
  );
  let hidden = 0;
  for (const { seq, query, accepted_at } of barriers) {
    const late = added.flatMap((operation) => (operation.seq < seq && operation.doc !== null ? [operation.doc] : []));
    const params = new Params();
    const gone = await tx.query<{ doc: bigint }>(
      `select d.doc from ${S}.documents d
        where d.doc = any(${params.add(late, 'bigint[]')}) and ${compileDelete(context, query, accepted_at, params)}`,
      params.values,
    );
    await countDescribed(
      tx,
      context,
      gone.map(({ doc }) => doc),
      -1,
    );
    await removeUnpublished(
      tx,
      store,
      collection,
      gone.map(({ doc }) => doc),
    );
    hidden += gone.length;
  }
  return hidden;
}
