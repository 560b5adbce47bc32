import { elementType } from '@akin/domain';
import type { FoundColumn } from './columns.ts';

/** How to list the values of a field from rows `d` of `documents`. */
export interface FieldValues {
  /** For the list of a select, as `v`: one row for each value of a document, each value once. */
  readonly elements: string;
  /** SQL that is true if the element `e` of the select is a value. */
  readonly isPresent: string;
}

const CASTS: Readonly<Record<string, string>> = { long: '::int8', double: '::float8', string: ' collate "C"' };

/** Undefined for fields whose values cannot be listed. The values of `text` are its words. */
export function fieldValues({ column, type }: FoundColumn): FieldValues | undefined {
  if (column.kind === 'words') {
    return {
      elements: `unnest(tsvector_to_array(d.${column.sql})) collate "C"`,
      // Lexemes with a leading colon are the words of single fields.
      isPresent: "left(e.v, 1) <> ':'",
    };
  }
  if (column.kind !== 'column') return undefined;
  const isPresent = 'e.v is not null';
  const element = elementType(type);
  if (element === type) return { elements: `d.${column.sql}`, isPresent };
  const cast = CASTS[element] ?? '';
  const values = `d.${column.sql}`;
  // Which documents have repeated values is known since they were written. 1,000,000 documents with three labels: as
  // fast as a bare unnest; making the values of each distinct takes three times as long.
  return {
    elements: `unnest(case when d.has_repeated_values then akin.distinct_values(${values}) else ${values} end)${cast}`,
    isPresent,
  };
}
