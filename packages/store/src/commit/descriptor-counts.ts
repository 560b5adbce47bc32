import { descriptorTable } from '../collections/collection-tables.ts';
import type { Queryable } from '../engine/engine.ts';
import type { CommitContext } from './commit-context.ts';

/*
 * How many documents have the descriptor of each module is counted by commits, as the documents themselves are: a ranked
 * search of everything then knows how many match without looking at one of them.
 */

/** Takes rows that end, or come, into the count of the next commit. Their descriptors must be in the tables. */
export async function countDescriptors(
  tx: Queryable,
  { store, collection, schema }: CommitContext,
  docs: readonly bigint[],
  sign: 1 | -1,
): Promise<void> {
  const S = collection.sqlSchema;
  const modules = store.modules.filter(({ descriptor }) => descriptor !== undefined);
  if (docs.length === 0 || modules.length === 0) return;
  const counts = modules.map(
    ({ name }) =>
      `when '${name}' then (select count(*) from ${descriptorTable(S, name)} where doc = any($1::bigint[]))`,
  );
  const rows = await tx.query<{ module: string; model: string | null }>(
    `update ${S}.descriptor_counts set unpublished = unpublished + $2 * case module ${counts.join(' ')} else 0 end
     returning module, model`,
    [docs, sign],
  );
  const changed = rows.find(({ module, model }) => (schema.models.get(module) ?? null) !== model);
  if (changed) throw new Error(`the collection went over to another model of ${changed.module} during the commit`);
}

/** Part of the moment of visibility. */
export async function publishDescriptorCounts(tx: Queryable, S: string): Promise<void> {
  await tx.query(
    `update ${S}.descriptor_counts set documents = documents + unpublished, unpublished = 0 where unpublished <> 0`,
  );
}
