import type { FieldValue } from '@akin/domain';
import { descriptorTable } from '../collections/collection-tables.ts';
import { hasServers } from '../collections/shard-servers.ts';
import type { Collection, CollectionSchema } from '../context.ts';
import {
  binaryArray,
  doubleArray,
  encodeHalfvec,
  halfvecOfHalves,
  intArray,
  longArray,
  textArray,
  tsvectorArray,
} from '../engine/binary.ts';
import { CopyRows } from '../engine/copy-rows.ts';
import type { CopyIn, Queryable, WritingTransaction } from '../engine/engine.ts';
import type { ParsedDescriptor } from '../model-sets.ts';
import type { ChunkContext } from './chunks.ts';
import { textOf } from './document-rows.ts';
import type { Prepared } from './prepare.ts';

/**
 * Adds the rows of documents and their descriptors. Columns that no row has are left out.
 *
 * @returns the bytes of the documents
 */
export async function addRows(
  tx: WritingTransaction,
  context: ChunkContext,
  added: readonly Prepared[],
): Promise<number> {
  if (added.length === 0) return 0;
  const docs = added.map(({ operation }) => operation.doc ?? 0n);
  const pictures = await pictureBytes(tx, context.collection, docs);
  const bytes = added.map(({ columns }, i) => (columns?.bytes ?? 0) + (pictures.get(docs[i] ?? 0n) ?? 0));
  if (hasServers(context.collection)) {
    await insertDocuments(tx, context, added, bytes);
    await insertDescriptors(tx, context, added);
  } else {
    const copies = [copyOfDocuments(context, added, bytes), ...copiesOfDescriptors(context, added)];
    await tx.copyIn(copies);
    for (const { rows } of copies) rows.release();
  }
  return bytes.reduce((sum, one) => sum + one, 0);
}

const FIXED = ['doc', 'id', 'seq', 'version', 'bytes', 'valid_from', 'words'];

function copyOfDocuments(
  { collection, schema, target }: ChunkContext,
  added: readonly Prepared[],
  bytes: readonly number[],
): CopyIn {
  const names = usedColumns(added);
  const types = columnTypes(schema);
  const writers = names.map((name) => WRITERS[types.get(name) ?? 'text'] ?? writeText);
  const rows = new CopyRows();
  for (const [i, { operation, id, columns }] of added.entries()) {
    rows.row(FIXED.length + names.length);
    rows.long(operation.doc ?? 0n);
    rows.text(id);
    rows.long(operation.seq);
    rows.long(operation.keptVersion);
    rows.int(bytes[i] as number);
    rows.long(target);
    rows.binary(columns?.words ?? null);
    for (const [n, name] of names.entries()) {
      const value = columns?.values.get(name);
      if (value === undefined) rows.null();
      else (writers[n] as Writer)(rows, value);
    }
  }
  return { into: `${collection.sqlSchema}.documents (${[...FIXED, ...names]})`, rows };
}

type Writer = (rows: CopyRows, value: FieldValue) => void;

const writeText: Writer = (rows, value) => rows.text(value as string);

/** How to write a value, by type of its column. The values are those that `coerceValue` and modules make. */
const WRITERS: Readonly<Record<string, Writer>> = {
  boolean: (rows, value) => rows.boolean(value as boolean),
  bigint: (rows, value) => {
    rows.long(value as bigint);
  },
  float8: (rows, value) => rows.double(value as number),
  timestamptz: (rows, value) => {
    rows.long(BigInt((value as Date).getTime() - EPOCH) * 1_000n);
  },
  'text[]': (rows, value) => rows.binary(textArray(value as readonly string[])),
  'bigint[]': (rows, value) => rows.binary(longArray(value as readonly bigint[])),
  'float8[]': (rows, value) => rows.binary(doubleArray(value as readonly number[])),
};

/** The epoch of PostgreSQL, in milliseconds since 1970. */
const EPOCH = Date.UTC(2000, 0, 1);

function copiesOfDescriptors({ store, collection }: ChunkContext, added: readonly Prepared[]): CopyIn[] {
  return store.modules.flatMap(({ name }) => {
    const rows = new CopyRows();
    for (const { operation, descriptors } of added) {
      const descriptor = descriptors?.get(name);
      if (descriptor === undefined) continue;
      rows.row(3);
      rows.long(operation.doc ?? 0n);
      rows.int(descriptor.cell);
      rows.binary(halfvecOf(descriptor));
    }
    if (rows.count > 0) return { into: `${descriptorTable(collection.sqlSchema, name)} (doc, cell, vector)`, rows };
    rows.release();
    return [];
  });
}

function usedColumns(added: readonly Prepared[]): string[] {
  const names = new Set<string>();
  for (const { columns } of added) for (const name of columns?.values.keys() ?? []) names.add(name);
  return [...names];
}

/** For foreign tables, to which PostgreSQL 15 sends each row of a COPY separately. */
async function insertDocuments(
  tx: Queryable,
  { collection, schema, target, chunk }: ChunkContext,
  added: readonly Prepared[],
  bytes: readonly number[],
): Promise<void> {
  const docs = added.map(({ operation }) => operation.doc ?? 0n);
  const names = usedColumns(added);
  const types = columnTypes(schema);
  const inputs = names.map((_, i) => `v${i}`);
  const values = names.map((name, i) => `v${i}::${types.get(name)}`);
  // The column `inserted_chunk` determines the type of the number.
  const insertedChunk = chunk === undefined ? ['', ''] : [', inserted_chunk', `, ${chunk}`];
  await tx.query(
    `insert into ${collection.sqlSchema}.documents
            (doc, id, seq, version, bytes, valid_from${insertedChunk[0]}, words${names.map((name) => `, ${name}`).join('')})
     select doc, id, seq, version, bytes, $1${insertedChunk[1]}, words${values.map((value) => `, ${value}`).join('')}
       from unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::int[], $7::tsvector[]${names.map((_, i) => `, $${i + 8}::text[]`).join('')})
            as t (doc, id, seq, version, bytes, words${inputs.map((input) => `, ${input}`).join('')})`,
    [
      target,
      longArray(docs),
      textArray(added.map(({ id }) => id)),
      longArray(added.map(({ operation }) => operation.seq)),
      longArray(added.map(({ operation }) => operation.keptVersion)),
      intArray(bytes),
      tsvectorArray(added.map(({ columns }) => columns?.words ?? null)),
      ...names.map((name) => textArray(added.map(({ columns }) => textOf(columns?.values.get(name))))),
    ],
  );
}

/** The bytes of the outputs and the thumbnail of each document that has some. */
async function pictureBytes(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  docs: readonly bigint[],
): Promise<Map<bigint, number>> {
  const rows = await tx.query<{ doc: bigint; bytes: number }>(
    `select doc, coalesce(octet_length(json), size, 0) as bytes from ${S}.outputs where doc = any($1::bigint[])
     union all
     select doc, coalesce(octet_length(bytes), size, 0) from ${S}.thumbnails where doc = any($1::bigint[])`,
    [longArray(docs)],
  );
  const found = new Map<bigint, number>();
  for (const { doc, bytes } of rows) found.set(doc, (found.get(doc) ?? 0) + bytes);
  return found;
}

/** The SQL type of each column of `documents` that a document may fill, except its words, by the name of the column. */
function columnTypes(schema: CollectionSchema): Map<string, string> {
  const types = new Map([['has_repeated_values', 'boolean']]);
  for (const column of schema.columns.values()) {
    if (column.kind === 'column') types.set(column.sql, INPUT_TYPES[column.type] ?? 'text');
    else if (column.kind === 'location') types.set(column.lat, 'float8').set(column.lon, 'float8');
  }
  return types;
}

const INPUT_TYPES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  long: 'bigint',
  double: 'float8',
  date: 'timestamptz',
  strings: 'text[]',
  longs: 'bigint[]',
  doubles: 'float8[]',
};

async function insertDescriptors(
  tx: Queryable,
  { store, collection }: ChunkContext,
  added: readonly Prepared[],
): Promise<void> {
  for (const { name } of store.modules) {
    const rows = added.flatMap(({ operation, descriptors }) => {
      const descriptor = descriptors?.get(name);
      return descriptor === undefined ? [] : [{ doc: operation.doc ?? 0n, descriptor }];
    });
    if (rows.length === 0) continue;
    await tx.query(
      `insert into ${descriptorTable(collection.sqlSchema, name)} (doc, cell, vector)
       select * from unnest($1::bigint[], $2::int[], $3::halfvec[])`,
      [
        longArray(rows.map(({ doc }) => doc)),
        intArray(rows.map(({ descriptor }) => descriptor.cell)),
        binaryArray(
          store.halfvecOid,
          rows.map(({ descriptor }) => halfvecOf(descriptor)),
        ),
      ],
    );
  }
}

/** The numbers of a descriptor are converted only when they are asked for. */
function halfvecOf(descriptor: ParsedDescriptor): Uint8Array {
  return descriptor.halves ? halfvecOfHalves(descriptor.halves) : encodeHalfvec(descriptor.vector);
}
