import type { NewDocument } from '@akin/domain';
import { descriptorTable } from './collection-tables.ts';
import type { Collection } from './collections.ts';
import type { CommitContext } from './commit-context.ts';
import { columnTypes, type DocumentColumns, documentColumns } from './document-rows.ts';
import { binaryArray, decodeHalfvec, encodeHalfvec, textArray } from './engine/binary.ts';
import type { Queryable } from './engine/engine.ts';
import { isRefusal } from './engine/sqlstate.ts';
import { otherModule } from './models.ts';
import type { ReadyOperation } from './ready-operations.ts';
import type { CollectionSchema } from './schema.ts';
import type { ParsedOutputs, Store } from './store.ts';

/*
 * Whoever accepts a document with outputs has just read all of it. On PostgreSQL what the commit will put into its
 * tables is written down then, as a row of `arrivals`: the commit moves such rows within the database, and neither reads
 * nor sends them. It is a shortcut and nothing else: an operation whose arrival is not there, or was made by a process
 * of other models or codebooks, is read from what it carries, as all others are.
 */

/** What a document will be in the tables. */
export interface Arrival {
  /** Of its outputs: says which models and codebooks it was made with. */
  readonly mark: string;
  readonly columns: DocumentColumns;
  readonly descriptors: ParsedOutputs['descriptors'];
}

/**
 * @param vocabulary gets the words of the document
 * @returns undefined when there is to be none, or it cannot be made yet: a field is new and has no column
 */
export function makeArrival(
  store: Store,
  schema: CollectionSchema,
  { id, fields }: NewDocument,
  outputs: ParsedOutputs | undefined,
  vocabulary: Set<string>,
): Arrival | undefined {
  if (outputs?.mark === undefined || outputs.mark !== arrivalsMark(store, schema)) return undefined;
  const names = [...fields.keys(), ...outputs.fields.keys()];
  if (!names.every((name) => schema.columns.has(name))) return undefined;
  const { mark, descriptors } = outputs;
  return { mark, descriptors, columns: documentColumns(id, fields, outputs, schema, vocabulary) };
}

/** Writes arrivals down under the numbers that their operations drew. */
export async function writeArrivals(
  store: Store,
  collection: Collection,
  schema: CollectionSchema,
  rows: readonly { readonly doc: bigint; readonly arrival: Arrival }[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = [...new Set(rows.flatMap(({ arrival }) => [...arrival.columns.keys()]))];
  const types = columnTypes(schema);
  const modules = describing(store)
    .map(({ name }) => name)
    .filter((name) => rows.some(({ arrival }) => arrival.descriptors.has(name)));
  const columns = [...names, ...modules.flatMap((name) => [`cell_${name}`, `vector_${name}`])];
  const inputs = [...names.map(() => 'text[]'), ...modules.flatMap(() => ['int[]', 'halfvec[]'])];
  const values = columns.map((name, i) => (i < names.length ? `v${i}::${types.get(name)}` : `v${i}`));
  const descriptorsOf = (module: string) => rows.map(({ arrival }) => arrival.descriptors.get(module));
  const writing = store.engine.query(
    `insert into ${collection.sqlSchema}.arrivals (doc, mark, ${columns.join(', ')})
     select doc, mark, ${values.join(', ')}
       from unnest($1::bigint[], $2::text[], ${inputs.map((type, i) => `$${i + 3}::${type}`).join(', ')})
            as t (doc, mark, ${columns.map((_, i) => `v${i}`).join(', ')})`,
    [
      rows.map(({ doc }) => doc),
      textArray(rows.map(({ arrival }) => arrival.mark)),
      ...names.map((name) => textArray(rows.map(({ arrival }) => arrival.columns.get(name) ?? null))),
      ...modules.flatMap((name) => [
        descriptorsOf(name).map((one) => one?.cell ?? null),
        binaryArray(
          store.halfvecOid,
          descriptorsOf(name).map((one) => (one === undefined ? null : encodeHalfvec(one.vector))),
        ),
      ]),
    ],
    'bulk',
  );
  // What the engine does not take, the commit finds out and tells for each document.
  await writing.catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
  });
}

/**
 * The mark of arrivals that this process makes and applies; undefined: it does neither. PGlite does one thing at a time,
 * and writing twice is what takes its time; outputs of other models than the collection has are refused by the commit.
 */
export function arrivalsMark(store: Store, schema: CollectionSchema): string | undefined {
  if (store.engine.kind === 'pglite') return undefined;
  const modules = store.modules.map(({ name }) => name);
  return otherModule(store, schema, modules) === undefined ? store.mark : undefined;
}

/** Moves the arrivals of operations into `documents` and the tables of descriptors. */
export async function applyArrivals(
  tx: Queryable,
  { store, collection, schema, target }: CommitContext,
  added: readonly ReadyOperation[],
): Promise<void> {
  if (added.length === 0) return;
  const S = collection.sqlSchema;
  const columns = [...columnTypes(schema).keys()].join(', ');
  const descriptors = describing(store).map(
    ({ name }) => `, ${name} as (
       insert into ${descriptorTable(S, name)} (doc, cell, vector)
       select doc, cell_${name}, vector_${name} from arrived where vector_${name} is not null)`,
  );
  const [moved] = await tx.query<{ count: bigint }>(
    `with arrived as (
       delete from ${S}.arrivals a using unnest($2::bigint[], $3::text[], $4::bigint[]) as t (number, id, seq)
        where a.doc = t.number returning a.*, t.id, t.seq
     ), added as (
       insert into ${S}.documents (doc, id, seq, vf, ${columns}) select doc, id, seq, $1, ${columns} from arrived
     )${descriptors.join('')}
     select count(*) as count from arrived`,
    [target, added.map(({ doc }) => doc ?? 0n), textArray(added.map(({ id }) => id)), added.map(({ seq }) => seq)],
  );
  // The models of the collection were exchanged a moment ago: the next commit reads what the operations carry.
  if (Number(moved?.count) !== added.length) throw new Error('arrivals went while they were applied');
}

/** A row of descriptors that a commit brings. */
export interface NewRow {
  readonly doc: bigint;
  readonly vector: Float32Array;
}

/** The descriptors of arrivals, where they have one. */
export function readArrivals(
  db: Queryable,
  { sqlSchema: S }: Collection,
  module: string,
  docs: readonly bigint[],
): Promise<NewRow[]> {
  return readVectors(db, `${S}.arrivals`, `vector_${module}`, docs);
}

export async function readVectors(
  db: Queryable,
  table: string,
  column: string,
  docs: readonly bigint[],
): Promise<NewRow[]> {
  if (docs.length === 0) return [];
  const rows = await db.query<{ doc: bigint; vector: Buffer }>(
    `select doc, halfvec_send(${column}) as vector from ${table} where doc = any($1::bigint[]) and ${column} is not null`,
    [docs],
  );
  return rows.map(({ doc, vector }) => ({ doc, vector: decodeHalfvec(vector) }));
}

/** Removes those of operations that come to nothing. */
export async function forgetArrivals(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  docs: readonly bigint[],
): Promise<void> {
  await tx.query(`delete from ${S}.arrivals where doc = any($1::bigint[])`, [docs]);
}

const describing = ({ modules }: Store) => modules.filter(({ descriptor }) => descriptor !== undefined);
