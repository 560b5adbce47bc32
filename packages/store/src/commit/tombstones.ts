import { type FieldType, parseQuery } from '@akin/domain';
import type { Collection, CollectionSchema, Store } from '../context.ts';
import { columnsOf } from '../engine/binary.ts';
import type { Queryable, SqlValue } from '../engine/engine.ts';
import type { CommitContext } from './commit-context.ts';
import { type DocumentColumns, textOf } from './document-rows.ts';
import { requireLease } from './leases.ts';

/**
 * What remains of a document that came from a file of a folder and was deleted on purpose: programs that index the
 * folder skip the file as long as it has this size and time.
 */
interface Tombstone {
  readonly id: string;
  /** The folder. The id of the document is the path of the file in this folder. */
  readonly source: string;
  /** The modification time of the file, in whole seconds. */
  readonly modified: Date;
  /** The size of the file. */
  readonly bytes: bigint;
}

export interface TombstonePage {
  /** By ascending id. */
  readonly tombstones: readonly Tombstone[];
  /** The id after which to continue. Undefined at the end. */
  readonly next: string | undefined;
}

/** The fields that name the file of a document. A document without any of them leaves no tombstone. */
const FILE_FIELDS: readonly (readonly [name: keyof Tombstone, type: FieldType])[] = [
  ['source', 'string'],
  ['modified', 'date'],
  ['bytes', 'long'],
];

/** Maximum number per collection, the newest ones: about 240 MB. */
const MAX_TOMBSTONES = 1_000_000;
/** Tombstones that one statement removes. */
const WINDOW = 5_000n;

/** The columns of `documents` for {@link FILE_FIELDS}. Undefined if no document is from a file. */
function fileColumns(schema: CollectionSchema): string[] | undefined {
  const columns = FILE_FIELDS.flatMap(([name, type]) => {
    const column = schema.columns.get(name);
    return column?.kind === 'column' && column.type === type ? [column.sql] : [];
  });
  return columns.length === FILE_FIELDS.length ? columns : undefined;
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
  const file = columns.map((column) => `d.${column}`);
  await insertTombstones(
    tx,
    collection,
    `select d.id, ${file.join(', ')} from ${collection.sqlSchema}.documents d
      where ${rows} and ${file.map((column) => `${column} is not null`).join(' and ')}`,
    values,
  );
}

/** A document that a delete made void before it got a row. */
interface VoidDocument {
  readonly id: string;
  readonly seq: bigint;
  /** The values that its row would have. */
  readonly columns: DocumentColumns;
}

/** Writes tombstones of documents that never got a row, if there is no newer one. */
export async function writeTombstonesOfVoid(
  tx: Queryable,
  { collection, schema }: CommitContext,
  documents: readonly VoidDocument[],
): Promise<void> {
  const columns = fileColumns(schema);
  const ofFiles = documents.filter((one) => columns?.every((column) => one.columns.values.has(column)));
  if (columns === undefined || ofFiles.length === 0) return;
  const S = collection.sqlSchema;
  await insertTombstones(
    tx,
    collection,
    `select id, source, modified::timestamptz, bytes::bigint
       from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[]) as t (id, seq, source, modified, bytes)
      where not exists (select from ${S}.documents d where d.id = t.id and d.seq > t.seq)`,
    [
      ...columnsOf(ofFiles, 'id', 'seq'),
      ...columns.map((column) => ofFiles.map(({ columns: { values } }) => textOf(values.get(column)))),
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
    `insert into ${S}.tombstones (id, source, modified, bytes) ${select}
     on conflict (id) do update set number = excluded.number, source = excluded.source, modified = excluded.modified,
                                    bytes = excluded.bytes`,
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

/** Removes all tombstones of the collection, in pieces. */
export async function deleteAllTombstones({ store, collection, lease }: CommitContext): Promise<void> {
  const S = collection.sqlSchema;
  const [range] = await store.engine.query<{ first: bigint | null; last: bigint | null }>(
    `select min(number) as first, max(number) as last from ${S}.tombstones`,
    [],
    'bulk',
  );
  for (let from = range?.first ?? 0n; from <= (range?.last ?? -1n); from += WINDOW) {
    await store.engine.transaction(
      async (tx) => {
        await requireLease(tx, collection, lease);
        await tx.query(`delete from ${S}.tombstones where number >= $1 and number < $2`, [from, from + WINDOW]);
      },
      { lane: 'bulk', keyed: true },
    );
  }
}

/** Replaces the tombstones of a collection by those of another one. */
export async function copyTombstones(tx: Queryable, from: Collection, to: Collection): Promise<void> {
  await tx.query(`truncate ${to.sqlSchema}.tombstones`);
  await tx.query(
    `insert into ${to.sqlSchema}.tombstones (id, source, modified, bytes)
     select id, source, modified, bytes from ${from.sqlSchema}.tombstones order by number`,
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
  const rows = await store.engine.query<{ id: string; source: string; modified: Date; bytes: bigint }>(
    `select id, source, modified, bytes from ${collection.sqlSchema}.tombstones where id > $1 order by id limit $2`,
    [after, limit + 1],
  );
  const tombstones = rows.slice(0, limit);
  return { tombstones, next: rows.length > limit ? tombstones.at(-1)?.id : undefined };
}
