import { parseQuery } from '@akin/domain';
import { fileColumn } from '../../database/collections/file-column.ts';
import type { Collection, CollectionSchema } from '../../database/context.ts';
import { columnsOf } from '../../database/engine/binary.ts';
import type { Queryable, Row, SqlValue } from '../../database/engine/engine.ts';
import type { Store } from '../context.ts';
import { type CommitContext, inCommit } from './commit-context.ts';
import type { DocumentColumns } from './document-rows.ts';

/**
 * What remains of a document that came from a file of a folder and was deleted on purpose: programs that index the
 * folder skip the file as long as it has this size and time.
 */
interface Tombstone {
  readonly id: string;
  /** The folder. */
  readonly source: string;
  /** The modification time of the file, in whole seconds. */
  readonly modified: Date;
  /** The size of the file. */
  readonly bytes: bigint;
  /** The path of the file in the folder. */
  readonly path: string;
  /** A hash of what the file contains, as the program that indexed it computed it. */
  readonly hash: bigint | undefined;
}

export interface TombstonePage {
  /** By ascending id. */
  readonly tombstones: readonly Tombstone[];
  /** The id after which to continue. Undefined at the end. */
  readonly next: string | undefined;
}

/** A document that lacks one of these fields leaves no tombstone. */
const REQUIRED_FIELDS = ['source', 'modified', 'bytes'] as const;
const OPTIONAL_FIELDS = ['path', 'file_hash'] as const;

/** Maximum number per collection, the newest ones: about 240 MB. */
const MAX_TOMBSTONES = 1_000_000;
const WINDOW = 5_000n;

interface FileColumns {
  /** The columns of `documents` for {@link REQUIRED_FIELDS}. */
  readonly required: readonly string[];
  /** Those for {@link OPTIONAL_FIELDS}; undefined for a field that no document has. */
  readonly optional: readonly (string | undefined)[];
}

/** Undefined if no document is from a file. */
function fileColumns(schema: CollectionSchema): FileColumns | undefined {
  const required = REQUIRED_FIELDS.map((name) => fileColumn(schema, name)).filter((column) => column !== undefined);
  if (required.length < REQUIRED_FIELDS.length) return undefined;
  return { required, optional: OPTIONAL_FIELDS.map((name) => fileColumn(schema, name)) };
}

/**
 * Writes tombstones of live rows of documents that are about to be removed.
 *
 * @param rows which: a condition on a row `d`, one row per id
 */
export async function writeTombstones(
  tx: Queryable,
  { collection, schema }: CommitContext,
  rows: string,
  values: readonly SqlValue[],
): Promise<void> {
  const columns = fileColumns(schema);
  if (columns === undefined) return;
  const file = columns.required.map((column) => `d.${column}`);
  const further = columns.optional.map((column) => (column === undefined ? 'null' : `d.${column}`));
  await insertTombstones(
    tx,
    collection,
    `select d.id, ${[...file, ...further].join(', ')} from ${collection.sqlSchema}.documents d
      where ${rows} and ${file.map((column) => `${column} is not null`).join(' and ')}`,
    values,
  );
}

/** A document that a delete made void before it got a row. */
interface VoidDocument {
  readonly id: string;
  readonly seq: bigint;
  readonly columns: DocumentColumns;
}

/** Writes tombstones of documents that never got a row, if there is no newer one. */
export async function writeTombstonesOfVoid(
  tx: Queryable,
  { collection, schema }: CommitContext,
  documents: readonly VoidDocument[],
): Promise<void> {
  const columns = fileColumns(schema);
  const ofFiles = documents.filter((one) => columns?.required.every((column) => one.columns.values.has(column)));
  if (columns === undefined || ofFiles.length === 0) return;
  const S = collection.sqlSchema;
  await insertTombstones(
    tx,
    collection,
    `select id, source, modified, bytes, path, hash
       from unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::bigint[], $6::text[], $7::bigint[])
              as t (id, seq, source, modified, bytes, path, hash)
      where not exists (select from ${S}.documents d where d.id = t.id and d.seq > t.seq)`,
    [
      ...columnsOf(ofFiles, 'id', 'seq'),
      ...[...columns.required, ...columns.optional].map((column) =>
        ofFiles.map(({ columns: { values } }) => ((column && values.get(column)) ?? null) as SqlValue),
      ),
    ],
  );
}

async function insertTombstones(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  select: string,
  values: readonly SqlValue[],
): Promise<void> {
  await tx.query(
    `insert into ${S}.tombstones (id, source, modified, bytes, path, hash) ${select}
     on conflict (id) do update set number = excluded.number, source = excluded.source, modified = excluded.modified,
                                    bytes = excluded.bytes, path = excluded.path, hash = excluded.hash`,
    values,
  );
}

/**
 * Removes the oldest tombstones above the limit. Deletes do not do this themselves: they may run in several shards in
 * parallel, and could deadlock.
 *
 * @returns whether there may be more
 */
export async function forgetOldTombstones(store: Store, { sqlSchema: S }: Collection): Promise<boolean> {
  const rows = await store.engine.query(
    `delete from ${S}.tombstones where id in (
       select id from ${S}.tombstones
        where number <= (select max(number) from ${S}.tombstones) - ${MAX_TOMBSTONES}
        order by number limit ${WINDOW} for update skip locked)
     returning true`,
    [],
    'bulk',
  );
  return rows.length === Number(WINDOW);
}

/** Removes the tombstones of documents that are stored again. */
export async function removeTombstones(
  tx: Queryable,
  { collection, schema }: CommitContext,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0 || fileColumns(schema) === undefined) return;
  await tx.query(`delete from ${collection.sqlSchema}.tombstones where id = any($1::text[])`, [ids]);
}

/** Whether a delete by this query empties the collection: then it removes all tombstones and writes none. */
export function deletesEverything(query: string): boolean {
  return parseQuery(query).kind === 'all';
}

export async function deleteAllTombstones(context: CommitContext): Promise<void> {
  const S = context.collection.sqlSchema;
  const [range] = await context.store.engine.query<{ first: bigint | null; last: bigint | null }>(
    `select min(number) as first, max(number) as last from ${S}.tombstones`,
    [],
    'bulk',
  );
  for (let from = range?.first ?? 0n; from <= (range?.last ?? -1n); from += WINDOW) {
    const sql = `delete from ${S}.tombstones where number >= $1 and number < $2`;
    await inCommit(context, (tx) => tx.query(sql, [from, from + WINDOW]));
  }
}

/** Replaces the tombstones of a collection by those of another one. */
export async function copyTombstones(tx: Queryable, from: Collection, to: Collection): Promise<void> {
  await tx.query(`truncate ${to.sqlSchema}.tombstones`);
  await tx.query(
    `insert into ${to.sqlSchema}.tombstones (id, source, modified, bytes, path, hash)
     select id, source, modified, bytes, path, hash from ${from.sqlSchema}.tombstones order by number`,
  );
}

/**
 * @param options.after only those with a greater id
 * @param options.limit maximum number per page
 */
export async function listTombstones(
  store: Store,
  collection: Collection,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<TombstonePage> {
  const rows = await store.engine.query<Row>(
    `select id, source, modified, bytes, coalesce(path, id) as path, hash from ${collection.sqlSchema}.tombstones where id > $1 order by id limit $2`,
    [after, limit + 1],
  );
  const tombstones = rows.slice(0, limit).map((row) => ({ ...row, hash: row.hash ?? undefined }) as Tombstone);
  return { tombstones, next: rows.length > limit ? tombstones.at(-1)?.id : undefined };
}
