import type { Collection, Store } from '../context.ts';
import { visible, withSnapshot } from '../search/snapshot.ts';

/**
 * The folder that a visible document names as the source of its file.
 *
 * @returns undefined if it names none, or there is no such document
 */
export async function readSource(store: Store, collection: Collection, id: string): Promise<string | undefined> {
  return withSnapshot(store, collection, async ({ tx, commit, sqlSchema, schema }) => {
    const column = schema.columns.get('source');
    if (column?.kind !== 'column' || column.type !== 'string') return undefined;
    const [row] = await tx.query<{ source: string | null }>(
      `select d.${column.sql} as source from ${sqlSchema}.documents d where d.id = $1 and ${visible('$2::int8')}`,
      [id, commit],
    );
    return row?.source ?? undefined;
  });
}
