import type { Collection, Store } from '../context.ts';
import { type ExportedDocument, readExported } from '../export/export-documents.ts';
import { withSnapshot } from '../search/snapshot.ts';

/** What differs between two commits, a chunk of it. */
export interface ChangedDocuments {
  readonly documents: readonly ExportedDocument[];
  readonly deleted: readonly string[];
}

const CHUNK = 200;

export async function currentCommit(store: Store, collection: Collection): Promise<bigint> {
  const [row] = await store.engine.query<{ commit: bigint }>('select commit from akin.collections where id = $1', [
    collection.id,
  ]);
  return row?.commit ?? 0n;
}

/**
 * Documents that came or changed behind commit `since`, as commit `to` shows them, and the ids of those that are gone.
 * Both commits have to be kept by a pin.
 */
export async function* changesBetween(
  store: Store,
  collection: Collection,
  since: bigint,
  to: bigint,
): AsyncGenerator<ChangedDocuments> {
  const S = collection.sqlSchema;
  for (let last = -1n; ; ) {
    const rows = await store.engine.query<{ doc: bigint }>(
      `select doc from ${S}.documents where valid_from > $1 and valid_from <= $2 and valid_to > $2 and doc > $3 order by doc limit ${CHUNK}`,
      [since, to, last],
      'bulk',
    );
    const end = rows.at(-1);
    if (end === undefined) break;
    last = end.doc;
    const docs = rows.map(({ doc }) => doc);
    const documents = await withSnapshot(store, collection, (snapshot) => readExported(store, snapshot, docs));
    yield { documents: documents.map(({ document }) => document), deleted: [] };
  }
  for (let last = ''; ; ) {
    const rows = await store.engine.query<{ id: string }>(
      `select distinct d.id from ${S}.documents d
        where d.valid_from <= $1 and d.valid_to > $1 and d.valid_to <= $2 and d.id > $3
          and not exists (select from ${S}.documents e where e.id = d.id and e.valid_from <= $2 and e.valid_to > $2)
        order by d.id limit ${CHUNK}`,
      [since, to, last],
      'bulk',
    );
    const end = rows.at(-1);
    if (end === undefined) break;
    last = end.id;
    yield { documents: [], deleted: rows.map(({ id }) => id) };
  }
}
