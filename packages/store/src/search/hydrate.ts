import {
  AkinError,
  type Distance,
  type Field,
  type FieldValue,
  type StoredDocument,
  unescapeBackslashes,
} from '@akin/domain';
import { VERSION } from '../collections/collection-tables.ts';
import { modelSetOf } from '../collections/model-set.ts';
import type { Store } from '../context.ts';
import type { Queryable, Row } from '../engine/engine.ts';
import { findColumn, type SearchedTables } from './columns.ts';
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

/** The contents of a document on a page. */
export interface ReadDocument {
  readonly document: StoredDocument;
  /** Kilometers, in the order of the request. Null if the document has no location. */
  readonly distances: readonly (number | null)[];
}

/** The columns of a statement that show documents. */
export interface DocumentColumns {
  /** SQL expressions over a row `d` of `documents` and a row `o` of `outputs`. */
  readonly columns: readonly string[];
  /** Whether `o` is needed. */
  readonly outputs: boolean;
  readonly read: (row: Row) => ReadDocument;
}

export function documentColumns(
  store: Store,
  tables: SearchedTables,
  fields: readonly Field[],
  distances: readonly Distance[],
  params: Params,
): DocumentColumns {
  const { columns } = tables.schema;
  const far = distances.map((distance, i) => `${geodistSql(distance, tables, params)} as far${i}`);
  const selected = fields.flatMap(({ name }, i) => {
    const column = columns.get(name);
    if (column?.kind === 'column') return [`d.${column.sql} as c${i}`];
    if (column?.kind === 'version') return [`${VERSION} as c${i}`];
    return column?.kind === 'location' ? [`d.${column.lat} as lat${i}`, `d.${column.lon} as lon${i}`] : [];
  });
  const outputs = fields.some(({ name }) => columns.get(name)?.kind === 'output');
  return {
    columns: [...selected, ...far, ...(outputs ? ['o.json as outputs'] : [])],
    outputs,
    read: (row) => {
      const parsed =
        typeof row.outputs === 'string' ? modelSetOf(store, tables.schema).parseOutputs(row.outputs).fields : undefined;
      const document = new Map<string, FieldValue>();
      for (const [i, { name }] of fields.entries()) {
        const isOutput = columns.get(name)?.kind === 'output';
        const value = isOutput ? parsed?.get(name) : columnValue(row, i);
        if (value !== undefined) document.set(name, value);
      }
      const far = distances.map((_, i) => row[`far${i}`] as number | null);
      return { document, distances: far };
    },
  };
}

/** The documents of a page by their number, each read once. */
export async function readDocuments(
  store: Store,
  snapshot: SearchedTables & { readonly tx: Queryable },
  docs: readonly bigint[],
  fields: readonly Field[],
  distances: readonly Distance[],
): Promise<Map<bigint, ReadDocument>> {
  const { tx, sqlSchema } = snapshot;
  const params = new Params();
  const page = params.add(docs, 'int8[]');
  const { columns, outputs, read } = documentColumns(store, snapshot, fields, distances, params);
  if (docs.length === 0) return new Map();
  const rows = await tx.query(
    `select ${['d.doc', ...columns].join(', ')}
       from ${sqlSchema}.documents d ${outputs ? `left join ${sqlSchema}.outputs o on o.doc = d.doc` : ''}
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
  const value = (row[`c${i}`] ?? undefined) as FieldValue | undefined;
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}
