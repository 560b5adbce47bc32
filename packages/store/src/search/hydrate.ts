import {
  AkinError,
  type Distance,
  type Field,
  type FieldValue,
  type StoredDocument,
  unescapeBackslashes,
} from '@akin/domain';
import { descriptorTable, VERSION } from '../database/collections/collection-tables.ts';
import { halvesOfHalfvec } from '../database/engine/binary.ts';
import type { Queryable, Row } from '../database/engine/engine.ts';
import { UNKNOWN_MODEL } from '../database/outputs/pending-analysis.ts';
import { findColumn, type SearchedTables } from './columns.ts';
import type { SearchStore } from './context.ts';
import { Params } from './params.ts';
import { distanceSql, locationColumn } from './space.ts';

/**
 * The fields that a search returns, in the order of the schema: the named ones, and for `*` all that are returned by
 * default. A backslash in a name makes the next character literal. Unknown names are skipped.
 */
export function selectFields({ schema }: SearchedTables, names: readonly string[]): Field[] {
  const all = names.includes('*');
  const named = new Set(names.filter((name) => name !== '*').map((name) => unescapeBackslashes(name)));
  return [...schema.fields.values()].filter(
    ({ name, returnedByDefault }) =>
      schema.columns.get(name)?.kind !== 'words' && ((all && returnedByDefault) || named.has(name)),
  );
}

export interface ReadDocument {
  readonly document: StoredDocument;
  /** Kilometers, in the order of the request. Null if the document has no location. */
  readonly distances: readonly (number | null)[];
}

export interface DocumentColumns {
  /** SQL expressions over a row `d` of `documents` and the rows of `joins`. */
  readonly columns: readonly string[];
  /** Joins of `d` with the descriptors that are shown, as SQL. Empty if there are none. */
  readonly joins: string;
  readonly read: (row: Row) => ReadDocument;
}

/** @param isWhole whether lists of outputs are read even if they are empty, as whoever stores them again needs */
export function documentColumns(
  { descriptorTexts }: Pick<SearchStore, 'descriptorTexts'>,
  { sqlSchema, ...tables }: SearchedTables,
  fields: readonly Field[],
  distances: readonly Distance[],
  params: Params,
  isWhole = false,
): DocumentColumns {
  const { columns } = tables.schema;
  const far = distances.map((distance, i) => `${geodistSql(distance, { sqlSchema, ...tables }, params)} as far${i}`);
  const selected = fields.flatMap(({ name }, i) => {
    const column = columns.get(name);
    if (column?.kind === 'column' || column?.kind === 'bytes') return [`d.${column.sql} as c${i}`];
    if (column?.kind === 'version') return [`${VERSION} as c${i}`];
    return column?.kind === 'location' ? [`d.${column.lat} as lat${i}`, `d.${column.lon} as lon${i}`] : [];
  });
  const described = new Set(
    fields.flatMap(({ name }) => {
      const column = columns.get(name);
      return column?.kind === 'output' ? [column.module] : [];
    }),
  );
  const modules = [...described];
  const textsOf = (row: Row, i: number) => {
    const [vector, codes] = [row[`vector${i}`] as Buffer | null, row[`codes${i}`] as Buffer | null];
    if (vector === null || codes === null) return [];
    const module = modules[i] as string;
    const model = tables.schema.models.get(module) ?? UNKNOWN_MODEL;
    return [...descriptorTexts(module, model, { halves: halvesOfHalfvec(vector), codes })];
  };
  return {
    columns: [
      ...selected,
      ...far,
      ...modules.map((_, i) => `halfvec_send(o${i}.vector) as vector${i}, o${i}.codes as codes${i}`),
    ],
    joins: modules
      .map((module, i) => `left join ${descriptorTable(sqlSchema, module)} o${i} on o${i}.doc = d.doc`)
      .join(' '),
    read: (row) => {
      const texts = new Map(modules.flatMap((_, i) => textsOf(row, i)));
      const document = new Map<string, FieldValue>();
      for (const [i, { name, origin }] of fields.entries()) {
        const value = columns.get(name)?.kind === 'output' ? texts.get(name) : columnValue(row, i);
        const isEmpty = Array.isArray(value) && value.length === 0 && !(isWhole && origin === 'analysis');
        if (value !== undefined && !isEmpty) document.set(name, value);
      }
      const far = distances.map((_, i) => row[`far${i}`] as number | null);
      return { document, distances: far };
    },
  };
}

/** The documents of a page by their number, each read once. */
export async function readDocuments(
  store: SearchStore,
  snapshot: SearchedTables & { readonly tx: Queryable },
  docs: readonly bigint[],
  fields: readonly Field[],
  distances: readonly Distance[],
  isWhole = false,
): Promise<Map<bigint, ReadDocument>> {
  const { tx, sqlSchema } = snapshot;
  const params = new Params();
  const page = params.add(docs, 'int8[]');
  const { columns, joins, read } = documentColumns(store, snapshot, fields, distances, params, isWhole);
  if (docs.length === 0) return new Map();
  const rows = await tx.query(
    `select ${['d.doc', ...columns].join(', ')}
       from ${sqlSchema}.documents d ${joins}
      where d.doc = any(${page})`,
    params.values,
  );
  return new Map(rows.map((row) => [row.doc as bigint, read(row)]));
}

function geodistSql({ field, from }: Distance, snapshot: SearchedTables, params: Params): string {
  const fail = (problem: string) => new AkinError('bad-request', `geodist() cannot be returned: ${problem}.`);
  return distanceSql(locationColumn(findColumn(snapshot, field, fail), fail), from, params);
}

function columnValue(row: Row, i: number): FieldValue | undefined {
  if (typeof row[`lat${i}`] === 'number') return { lat: row[`lat${i}`], lon: row[`lon${i}`] };
  const value: unknown = row[`c${i}`];
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : ((value ?? undefined) as FieldValue);
}
