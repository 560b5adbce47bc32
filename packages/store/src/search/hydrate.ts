import type { Field, FieldValue, StoredDocument } from '@akin/domain';
import type { Row } from '../engine/engine.ts';
import type { Store } from '../store.ts';
import type { SearchedTables } from './columns.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * The fields that a search returns, in the order of the schema. A pattern is a name, or has `*` and `?` as wildcards; a
 * backslash takes a character as it is. Wildcards stand for the fields that are returned by default; a whole name also
 * for others. Names that no document has are passed over.
 */
export function selectFields({ schema }: SearchedTables, patterns: readonly string[]): Field[] {
  const tests = patterns.map((pattern) => {
    const parts = pattern.match(/\\.|[*?]|[^\\*?]+|\\$/gsu) ?? [];
    const glob = parts.some((part) => part === '*' || part === '?');
    const source = parts.map((part) => {
      if (part === '*') return '.*';
      if (part === '?') return '.';
      return part.replace(/^\\(.)/su, '$1').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    });
    return { glob, expression: new RegExp(`^${source.join('')}$`, 'su') };
  });
  return [...schema.fields.values()].filter(
    (field) =>
      schema.columns.get(field.name)?.kind !== 'words' &&
      tests.some(({ glob, expression }) => (field.returnedByDefault || !glob) && expression.test(field.name)),
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
