import { descriptorTable } from '../../database/collections/collection-tables.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import type { CommitContext } from './commit-context.ts';

/*
 * Commits count how many documents have the descriptor of each module, as they count the documents themselves: a ranked
 * search of everything then knows the number of matches without reading one of them.
 */

/** The changes of one transaction to the counts of the next commit. */
export class DescriptorChanges {
  readonly #changes = new Map<string, number>();

  /** Adds new descriptors of a module, or (below 0) removed ones. */
  add(module: string, descriptors: number): void {
    this.#changes.set(module, (this.#changes.get(module) ?? 0) + descriptors);
  }

  /** Counts ended rows, while their descriptors are in the tables. */
  async remove(tx: Queryable, { store, collection }: CommitContext, docs: readonly bigint[]): Promise<void> {
    const modules = store.modules.filter(({ descriptor }) => descriptor !== undefined);
    if (docs.length === 0 || modules.length === 0) return;
    const counts = modules.map(
      ({ name }) =>
        `select '${name}' as module, count(*)::int4 as count from ${descriptorTable(collection.sqlSchema, name)} where doc = any($1::bigint[])`,
    );
    const rows = await tx.query<{ module: string; count: number }>(counts.join(' union all '), [docs]);
    for (const { module, count } of rows) this.add(module, -count);
  }

  /**
   * Writes the changes. Call it at the end of a transaction, after its change of the collection's row, because other
   * transactions that count wait from then on.
   */
  async write(tx: Queryable, { collection, schema }: CommitContext): Promise<void> {
    if (this.#changes.size === 0) return;
    const rows = await tx.query<{ module: string; model: string | null }>(
      `update ${collection.sqlSchema}.descriptor_counts d set unpublished = d.unpublished + t.change
         from unnest($1::text[], $2::bigint[]) as t (module, change) where d.module = t.module
       returning d.module, d.model`,
      [[...this.#changes.keys()], [...this.#changes.values()]],
    );
    const changed = rows.find(({ module, model }) => (schema.models.get(module) ?? null) !== model);
    if (changed) throw new Error(`the collection changed to another model of ${changed.module} during the commit`);
  }
}

/** Part of the moment of visibility. */
export async function publishDescriptorCounts(tx: Queryable, S: string): Promise<void> {
  await tx.query(
    `update ${S}.descriptor_counts set documents = documents + unpublished, unpublished = 0 where unpublished <> 0`,
  );
}
