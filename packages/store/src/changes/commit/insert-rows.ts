import type { FieldType, FieldValue } from '@akin/domain';
import { modelSetOf } from '../../database/collections/model-set.ts';
import type { Collection, CollectionSchema } from '../../database/context.ts';
import { doubleArray, longArray, textArray, timestampArray, timestampOf } from '../../database/engine/binary.ts';
import { CopyRows } from '../../database/engine/copy-rows.ts';
import type { CopyIn, Queryable, WritingTransaction } from '../../database/engine/engine.ts';
import { descriptorTables } from '../../database/outputs/descriptor-rows.ts';
import type { CommitContext } from './commit-context.ts';
import type { Prepared } from './prepare.ts';

/**
 * Adds the rows of documents, whose descriptors and thumbnails are there already. Columns that no row has are left out.
 *
 * @returns the bytes of the documents
 */
export async function addRows(
  tx: WritingTransaction,
  context: CommitContext,
  added: readonly Prepared[],
): Promise<number> {
  if (added.length === 0) return 0;
  const thumbnails = await thumbnailBytes(tx, context.collection, added);
  const sizes = descriptorSizes(context);
  const pictures = added.map(({ operation, modules = [] }) => {
    const descriptors = modules.reduce((sum, module) => sum + (sizes.get(module) ?? 0), 0);
    return descriptors + (thumbnails.get(operation.doc ?? 0n) ?? 0);
  });
  // The collection cannot change its models before the end of the transaction.
  const described = descriptorTables(context.store, context.collection.sqlSchema);
  if (described.length > 0) await tx.query(`lock table only ${described.join(', only ')} in row exclusive mode`);
  const { copy, bytes } = copyOfDocuments(context, added, pictures);
  await tx.copyIn([copy]);
  copy.rows.release();
  return bytes;
}

/** Bytes of the descriptor of each module. */
function descriptorSizes({ store, schema }: CommitContext): Map<string, number> {
  const { modules } = modelSetOf(store, schema);
  return new Map(modules.map(({ name, descriptor }) => [name, 2 * (descriptor?.dimensions ?? 0)]));
}

const FIXED = ['doc', 'seq', 'version', 'valid_from', 'words', 'has_repeated_values', 'id'];

/**
 * @param pictures bytes of the descriptors and thumbnail of each
 * @returns the rows, and the bytes of all documents
 */
function copyOfDocuments(
  { collection, schema, target }: CommitContext,
  added: readonly Prepared[],
  pictures: readonly number[],
): { readonly copy: CopyIn; readonly bytes: number } {
  const names = usedColumns(added);
  const known = writersOf(schema);
  const writers = names.map((name) => known.get(name) ?? writeText);
  const rows = new CopyRows();
  let sum = 0;
  for (const [i, { operation, id, columns }] of added.entries()) {
    rows.row(FIXED.length + names.length + 1);
    rows.long(operation.doc ?? 0n);
    rows.long(operation.seq);
    rows.long(operation.keptVersion);
    rows.long(target);
    rows.binary(columns?.words ?? null);
    rows.boolean(columns?.hasRepeatedValues ?? true);
    const before = rows.valueBytes;
    rows.text(id);
    for (const [n, name] of names.entries()) {
      const value = columns?.values.get(name);
      if (value === undefined) rows.null();
      else (writers[n] as Writer)(rows, value);
    }
    const bytes = rows.valueBytes - before + (pictures[i] as number);
    rows.int(bytes);
    sum += bytes;
  }
  return { copy: { into: `${collection.sqlSchema}.documents (${[...FIXED, ...names, 'bytes']})`, rows }, bytes: sum };
}

type Writer = (rows: CopyRows, value: FieldValue) => void;

const writeText: Writer = (rows, value) => rows.text(value as string);

const writeDouble: Writer = (rows, value) => rows.double(value as number);
const writeBytes: Writer = (rows, value) => rows.binary(Buffer.from(value as string, 'base64'));
const writeBoolean: Writer = (rows, value) => rows.boolean(value as boolean);

/** How to write a value, by type of its column. The values are those that `coerceValue` and modules make. */
const WRITERS: Partial<Record<FieldType, Writer>> = {
  boolean: writeBoolean,
  long: (rows, value) => void rows.long(value as bigint),
  double: writeDouble,
  date: (rows, value) => void rows.long(timestampOf(value as Date)),
  strings: (rows, value) => rows.binary(textArray(value as readonly string[])),
  longs: (rows, value) => rows.binary(longArray(value as readonly bigint[])),
  doubles: (rows, value) => rows.binary(doubleArray(value as readonly number[])),
  dates: (rows, value) => rows.binary(timestampArray(value as readonly Date[])),
};

function usedColumns(added: readonly Prepared[]): string[] {
  const names = new Set<string>();
  for (const { columns } of added) for (const name of columns?.values.keys() ?? []) names.add(name);
  return [...names];
}

async function thumbnailBytes(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  added: readonly Prepared[],
): Promise<Map<bigint, number>> {
  const rows = await tx.query<{ doc: bigint; bytes: number }>(
    `select doc, octet_length(bytes) as bytes from ${S}.thumbnails where doc = any($1::bigint[])`,
    [longArray(added.map(({ operation }) => operation.doc))],
  );
  return new Map(rows.map(({ doc, bytes }) => [doc, bytes]));
}

/** How to write each column of `documents` that a document may fill, except its words, by the name of the column. */
function writersOf(schema: CollectionSchema): Map<string, Writer> {
  const writers = new Map<string, Writer>();
  for (const column of schema.columns.values()) {
    if (column.kind === 'column') writers.set(column.sql, WRITERS[column.type] ?? writeText);
    else if (column.kind === 'bytes') writers.set(column.sql, writeBytes);
    else if (column.kind === 'location') writers.set(column.lat, writeDouble).set(column.lon, writeDouble);
  }
  return writers;
}
