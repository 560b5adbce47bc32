import type { Field, FieldValue, StoredDocument } from '@akin/domain';
import type { Row } from '../engine/engine.ts';
import type { Store } from '../store.ts';
import type { SearchedTables } from './columns.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The fields that a search returns, in the order of the schema: those named, and for `*` all that are returned by
 * default. A backslash in a name takes the next character as it is. Names that no document has are passed over.
 */
export function selectFields({ schema }: SearchedTables, names: readonly string[]): Field[] {
  const all = names.includes('*');
  const named = new Set(names.filter((name) => name !== '*').map((name) => name.replace(/\\(.)/gsu, '$1')));
  return [...schema.fields.values()].filter(
    ({ name, returnedByDefault }) =>
      schema.columns.get(name)?.kind !== 'words' && ((all && returnedByDefault) || named.has(name)),
  );
}

/** The documents of a page by their number, each read once. */
export async function readDocuments(
  store: Store,
  { tx, schema, sqlSchema }: Snapshot,
  docs: readonly bigint[],
  fields: readonly Field[],
): Promise<Map<bigint, StoredDocument>> {
  if (docs.length === 0) return new Map();
  const { columns } = schema;
  const selected = fields.flatMap(({ name }, i) => {
    const column = columns.get(name);
    if (column?.kind === 'column') return [`d.${column.sql} as c${i}`];
    return column?.kind === 'location' ? [`d.${column.lat} as lat${i}`, `d.${column.lon} as lon${i}`] : [];
  });
  const outputs = fields.some(({ name }) => columns.get(name)?.kind === 'output');
  const rows = await tx.query(
    `select ${['d.doc', ...selected, ...(outputs ? ['o.json as outputs'] : [])].join(', ')}
       from ${sqlSchema}.documents d ${outputs ? `left join ${sqlSchema}.outputs o on o.doc = d.doc` : ''}
      where d.doc = any($1::int8[])`,
    [docs],
  );
  return new Map(
    rows.map((row) => {
      const parsed = typeof row.outputs === 'string' ? store.parseOutputs(row.outputs).fields : undefined;
      const document = new Map<string, FieldValue>();
      for (const [i, { name }] of fields.entries()) {
        const value = columns.get(name)?.kind === 'output' ? parsed?.get(name) : columnValue(row, i);
        if (value !== undefined) document.set(name, value);
      }
      return [row.doc as bigint, document];
    }),
  );
}

function columnValue(row: Row, i: number): FieldValue | undefined {
  if (typeof row[`lat${i}`] === 'number') return { lat: row[`lat${i}`], lon: row[`lon${i}`] };
  const value = (row[`c${i}`] ?? undefined) as FieldValue | undefined;
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}
