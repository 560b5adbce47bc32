import type { Store } from '../../changes/context.ts';
import { LIVE, VERSION } from '../../database/collections/collection-tables.ts';
import type { Collection } from '../../database/context.ts';
import { docsOf } from '../../database/engine/binary.ts';
import type { Row } from '../../database/engine/engine.ts';
import { type ExportedDocument, readExported } from '../../search/export/export-documents.ts';
import { Params } from '../../search/params.ts';
import { withSnapshot } from '../../search/snapshot.ts';
import { visible } from '../../search/visible.ts';

export interface ChangedDocuments {
  readonly documents: readonly ExportedDocument[];
  readonly deleted: readonly string[];
}

const CHUNK = 200;

/**
 * Compares `target` with commit `to` of `collection`. Yields the documents that `target` lacks in this version, and the
 * ids of documents that it should not have. A pin must keep the commit, and `target` must have no pending changes.
 */
export async function* differencesFrom(
  store: Store,
  collection: Collection,
  target: Collection,
  to: bigint,
): AsyncGenerator<ChangedDocuments> {
  const [S, T] = [collection.sqlSchema, target.sqlSchema];
  const live = `e.id = d.id and e.valid_to = ${LIVE}`;
  yield* inChunks(store, collection, [to], {
    documents: `select d.doc from ${S}.documents d
      where d.valid_from <= $1 and d.valid_to > $1 and d.doc > $2
        and not exists (select from ${T}.documents e where ${live} and e.version = ${VERSION})
      order by d.doc`,
    deleted: `select e.id from ${T}.documents e
      where e.valid_to = ${LIVE} and e.id > $2
        and not exists (select from ${S}.documents d where d.id = e.id and d.valid_from <= $1 and d.valid_to > $1)
      order by e.id`,
  });
}

export async function documentsOf(
  store: Store,
  collection: Collection,
  ids: readonly string[],
): Promise<ExportedDocument[]> {
  return withSnapshot(store, collection, async (snapshot) => {
    const params = new Params();
    const rows = await snapshot.tx.query<{ doc: bigint }>(
      `select d.doc from ${snapshot.sqlSchema}.documents d
        where d.id = any(${params.add(ids, 'text[]')}) and ${visible(snapshot, params)}`,
      params.values,
    );
    return readExported(snapshot, docsOf(rows));
  });
}

/**
 * Documents that were added or changed after commit `since`, as of commit `to`, and the ids of removed ones. A pin must
 * keep both commits.
 */
export async function* changesBetween(
  store: Store,
  collection: Collection,
  since: bigint,
  to: bigint,
): AsyncGenerator<ChangedDocuments> {
  const S = collection.sqlSchema;
  yield* inChunks(store, collection, [since, to], {
    documents: `select doc from ${S}.documents
      where valid_from > $1 and valid_from <= $2 and valid_to > $2 and doc > $3 order by doc`,
    deleted: `select distinct d.id from ${S}.documents d
      where d.valid_from <= $1 and d.valid_to > $1 and d.valid_to <= $2 and d.id > $3
        and not exists (select from ${S}.documents e where e.id = d.id and e.valid_from <= $2 and e.valid_to > $2)
      order by d.id`,
  });
}

/** @param statements the last parameter of each is the key after which the next chunk begins */
async function* inChunks(
  store: Store,
  collection: Collection,
  commits: readonly bigint[],
  statements: { readonly documents: string; readonly deleted: string },
): AsyncGenerator<ChangedDocuments> {
  for await (const rows of chunks(store, statements.documents, commits, -1n, (row: { doc: bigint }) => row.doc)) {
    const documents = await withSnapshot(store, collection, (snapshot) => readExported(snapshot, docsOf(rows)));
    yield { documents, deleted: [] };
  }
  for await (const rows of chunks(store, statements.deleted, commits, '', (row: { id: string }) => row.id)) {
    yield { documents: [], deleted: rows.map(({ id }) => id) };
  }
}

async function* chunks<One extends Row, Key extends bigint | string>(
  store: Store,
  statement: string,
  params: readonly bigint[],
  first: Key,
  keyOf: (row: One) => Key,
): AsyncGenerator<One[]> {
  for (let last = first; ; ) {
    const rows = await store.engine.query<One>(`${statement} limit ${CHUNK}`, [...params, last], 'bulk');
    const end = rows.at(-1);
    if (end === undefined) return;
    last = keyOf(end);
    yield rows;
  }
}
