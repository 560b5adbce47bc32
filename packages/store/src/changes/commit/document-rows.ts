import type { FieldType, FieldValue } from '@akin/domain';
import type { CollectionSchema } from '../../database/context.ts';
import { documentWords, type FieldTexts } from '../../search/document-words.ts';

/** The contents of a row of `documents`. */
export interface DocumentColumns {
  /** By column. Absent means null. */
  readonly values: ReadonlyMap<string, FieldValue>;
  readonly hasRepeatedValues: boolean;
  /** A tsvector in binary format. */
  readonly words: Uint8Array;
}

/**
 * The columns of a document: its fields, the outputs of its analysis that can be filtered, and the words of all its
 * string values.
 *
 * @param analysis the outputs, if there are any
 * @param vocabulary gets those words too
 * @throws AkinError too-large if there are too many
 */
export function documentColumns(
  id: string,
  fields: ReadonlyMap<string, FieldValue>,
  analysis: ReadonlyMap<string, FieldValue> | undefined,
  schema: CollectionSchema,
  vocabulary: Set<string>,
): DocumentColumns {
  const columns = new Map<string, FieldValue>();
  const texts: FieldTexts[] = [{ column: 'id', texts: [id] }];
  let hasRepeatedValues = false;
  const take = (value: FieldValue, name: string) => {
    const column = schema.columns.get(name);
    if (column === undefined) throw new Error(`there is no column for the field ${name}`);
    if (column.kind === 'location') {
      const { lat, lon } = value as { lat: number; lon: number };
      columns.set(column.lat, lat).set(column.lon, lon);
    } else if (column.kind === 'bytes') columns.set(column.sql, value);
    else if (column.kind === 'column') {
      columns.set(column.sql, value);
      hasRepeatedValues ||= hasRepeats(value);
      const found = searchableTexts(value, column.type);
      if (found.length > 0) texts.push({ column: column.sql, texts: found });
    }
  };
  fields.forEach(take);
  analysis?.forEach(take);
  return { values: columns, hasRepeatedValues, words: documentWords(texts, vocabulary) };
}

/** Up to this number of values are compared with each other. */
const FEW = 16;

function hasRepeats(value: FieldValue): boolean {
  if (!Array.isArray(value) || value.length < 2) return false;
  const elements: readonly unknown[] = value.map((one) => (one instanceof Date ? one.getTime() : one));
  if (elements.length > FEW) return new Set(elements).size < elements.length;
  return elements.some((element, i) => elements.indexOf(element) !== i);
}

function searchableTexts(value: FieldValue, type: FieldType): readonly string[] {
  if (type === 'string') return [value as string];
  return type === 'strings' ? (value as readonly string[]) : [];
}
