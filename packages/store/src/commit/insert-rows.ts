import type { FieldValue } from '@akin/domain';
import { descriptorTable } from '../collections/collection-tables.ts';
import type { Collection, CollectionSchema } from '../context.ts';
import {
  doubleArray,
  encodeHalfvec,
  halfvecOfHalves,
  longArray,
  textArray,
  timestampArray,
  timestampOf,
} from '../engine/binary.ts';
import { CopyRows } from '../engine/copy-rows.ts';
import type { CopyIn, Queryable, WritingTransaction } from '../engine/engine.ts';
import type { ParsedDescriptor } from '../model-sets.ts';
import type { CommitContext } from './commit-context.ts';
import type { Prepared } from './prepare.ts';

/**
 * Adds the rows of documents and their descriptors. Columns that no row has are left out.
 *
 * @returns the bytes of the documents
 */
export async function addRows(
  tx: WritingTransaction,
  context: CommitContext,
  added: readonly Prepared[],
): Promise<number> {
  if (added.length === 0) return 0;
  const docs = added.map(({ operation }) => operation.doc ?? 0n);
  const pictures = await pictureBytes(tx, context.collection, docs);
  const bytes = added.map(({ columns }, i) => (columns?.bytes ?? 0) + (pictures.get(docs[i] ?? 0n) ?? 0));
  const copies = [copyOfDocuments(context, added, bytes), ...copiesOfDescriptors(context, added)];
  await tx.copyIn(copies);
  for (const { rows } of copies) rows.release();
  return bytes.reduce((sum, one) => sum + one, 0);
}

const FIXED = ['doc', 'id', 'seq', 'version', 'bytes', 'valid_from', 'words'];

function copyOfDocuments(
  { collection, schema, target }: CommitContext,
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
    rows.long(timestampOf(value as Date));
  },
  'text[]': (rows, value) => rows.binary(textArray(value as readonly string[])),
  'bigint[]': (rows, value) => rows.binary(longArray(value as readonly bigint[])),
  'float8[]': (rows, value) => rows.binary(doubleArray(value as readonly number[])),
  'timestamptz[]': (rows, value) => rows.binary(timestampArray(value as readonly Date[])),
};

function copiesOfDescriptors({ store, collection }: CommitContext, added: readonly Prepared[]): CopyIn[] {
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

/** The bytes of the outputs and the thumbnail of each document that has some. */
async function pictureBytes(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  docs: readonly bigint[],
): Promise<Map<bigint, number>> {
  const rows = await tx.query<{ doc: bigint; bytes: number }>(
    `select doc, octet_length(json) as bytes from ${S}.outputs where doc = any($1::bigint[])
     union all
     select doc, octet_length(bytes) from ${S}.thumbnails where doc = any($1::bigint[])`,
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
  dates: 'timestamptz[]',
};

/** The numbers of a descriptor are converted only when they are asked for. */
function halfvecOf(descriptor: ParsedDescriptor): Uint8Array {
  return descriptor.halves ? halfvecOfHalves(descriptor.halves) : encodeHalfvec(descriptor.vector);
}
