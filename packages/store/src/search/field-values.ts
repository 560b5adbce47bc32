import type { FoundColumn } from './columns.ts';
import { elementType } from './field-clauses.ts';

/** The values of a field in a row `d` of `documents`, each once a document. */
export interface FieldValues {
  /** What joins the row to its values; empty where it has one. */
  readonly join: string;
  /** SQL of one value. */
  readonly value: string;
  /** SQL that is true of what is a value. */
  readonly present: string;
}

/** How the values of a field are listed; undefined for fields whose values cannot be. The words of `text` are values. */
export function fieldValues({ column, type }: FoundColumn): FieldValues | undefined {
  if (column.kind === 'words') {
    return {
      join: `cross join lateral unnest(tsvector_to_array(d.${column.sql})) e(v)`,
      value: 'e.v collate "C"',
      // Lexemes with a colon in front are the words of single fields.
      present: "left(e.v, 1) <> ':'",
    };
  }
  if (column.kind !== 'column') return undefined;
  if (elementType(type) === type) {
    return { join: '', value: `d.${column.sql}`, present: `d.${column.sql} is not null` };
  }
  return {
    join: `cross join lateral (select distinct v from unnest(d.${column.sql}) u(v)) e`,
    value: elementType(type) === 'string' ? 'e.v collate "C"' : 'e.v',
    present: 'e.v is not null',
  };
}
