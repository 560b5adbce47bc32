import type { Collection, Store } from '../context.ts';
import { visible, withSnapshot } from '../search/snapshot.ts';

/** Where the file of a document is. */
export interface FilePlace {
  /** The folder that was indexed. */
  readonly source: string;
  /** The path of the file in this folder. */
  readonly path: string;
}

/**
 * The file that a visible document names as its own.
 *
 * @returns undefined if it names none, or there is no such document
 */
export async function readFilePlace(store: Store, collection: Collection, id: string): Promise<FilePlace | undefined> {
  return withSnapshot(store, collection, async ({ tx, commit, sqlSchema, schema }) => {
    const [source, path] = ['source', 'path'].map((name) => {
      const column = schema.columns.get(name);
      return column?.kind === 'column' && column.type === 'string' ? `d.${column.sql}` : 'null::text';
    });
    const [row] = await tx.query<{ source: string | null; path: string | null }>(
      `select ${source} as source, ${path} as path from ${sqlSchema}.documents d
        where d.id = $1 and ${visible('$2::int8')}`,
      [id, commit],
    );
    return row?.source == null ? undefined : { source: row.source, path: row.path ?? id };
  });
}
