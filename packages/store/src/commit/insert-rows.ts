import { descriptorTable } from '../collections/collection-tables.ts';
import type { Collection, CollectionSchema } from '../context.ts';
import {
  binaryArray,
  encodeHalfvec,
  halfvecOfHalves,
  intArray,
  longArray,
  textArray,
  tsvectorArray,
} from '../engine/binary.ts';
import type { Queryable } from '../engine/engine.ts';
import type { ChunkContext } from './chunks.ts';
import type { Prepared } from './prepare.ts';

/**
 * Inserts rows. Each column is one parameter, whatever the number of rows. Columns that no row has are left out.
 *
 * @returns the bytes of the documents
 */
export async function insertDocuments(
  tx: Queryable,
  { collection, schema, target, chunk }: ChunkContext,
  added: readonly Prepared[],
): Promise<number> {
  if (added.length === 0) return 0;
  const docs = added.map(({ operation }) => operation.doc ?? 0n);
  const pictures = await pictureBytes(tx, collection, docs);
  const bytes = added.map(({ columns }, i) => (columns?.bytes ?? 0) + (pictures.get(docs[i] ?? 0n) ?? 0));
  const names = [...new Set(added.flatMap(({ columns }) => [...(columns?.texts.keys() ?? [])]))];
  const types = columnTypes(schema);
  const inputs = names.map((_, i) => `v${i}`);
  const values = names.map((name, i) => `v${i}::${types.get(name)}`);
  // The column determines its type.
  const born = chunk === undefined ? ['', ''] : [', born', `, ${chunk}`];
  await tx.query(
    `insert into ${collection.sqlSchema}.documents (doc, id, seq, version, bytes, valid_from${born[0]}, words${names.map((name) => `, ${name}`).join('')})
     select doc, id, seq, version, bytes, $1${born[1]}, words${values.map((value) => `, ${value}`).join('')}
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
      ...names.map((name) => textArray(added.map(({ columns }) => columns?.texts.get(name) ?? null))),
    ],
  );
  return bytes.reduce((sum, one) => sum + one, 0);
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
  const types = new Map([['repeats', 'boolean']]);
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

export async function insertDescriptors(
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
          rows.map(({ descriptor }) =>
            descriptor.halves ? halfvecOfHalves(descriptor.halves) : encodeHalfvec(descriptor.vector),
          ),
        ),
      ],
    );
  }
}
