import { AkinError } from '@akin/domain';
import type { Collection } from '../collections.ts';
import type { Queryable } from '../engine/engine.ts';
import { loadSchema } from '../schema.ts';
import type { Store } from '../store.ts';
import type { SearchedTables } from './columns.ts';

/** What a commit shows, for the statements of one answer. */
export interface Snapshot extends SearchedTables {
  readonly tx: Queryable;
  readonly commit: bigint;
  /** How many documents the commit shows. */
  readonly documents: bigint;
}

/**
 * Runs the statements of one answer on one commit: its number is read first, and rows are visible by it (see
 * {@link visible}). All statements run in one read-only database snapshot too, so that rows which a later commit
 * replaced cannot be removed meanwhile, however long the answer takes.
 */
export async function withSnapshot<T>(
  store: Store,
  collection: Collection,
  answer: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return store.engine.transaction(
    async (tx) => {
      const [row] = await tx.query<{ commit: bigint; documents: bigint; schema_version: number }>(
        'select commit, documents, schema_version from akin.collections where id = $1',
        [collection.id],
      );
      if (row === undefined) {
        throw new AkinError('not-found', `The collection ${collection.name} does not exist any more.`);
      }
      const schema = await loadSchema(store, collection, row.schema_version, tx);
      const { sqlSchema } = collection;
      return answer({ tx, commit: row.commit, documents: row.documents, sqlSchema, schema, modules: store.modules });
    },
    { snapshot: true },
  );
}

/** SQL that is true of the rows `d` of `documents` that a commit shows; `commit` is its number as SQL. */
export function visible(commit: string): string {
  return `d.vf <= ${commit} and d.vt > ${commit}`;
}
