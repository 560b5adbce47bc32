import { AkinError } from './errors.ts';
import { JsonObject, type JsonValue, parseJson } from './json.ts';
import { stringifyJson } from './json-write.ts';
import { isModifier, type Modifier, readModifiers } from './modifiers.ts';
import type { FieldValue, Schema } from './schema.ts';
import { quote } from './text.ts';
import { formatThumbnail, parseThumbnail } from './thumbnail.ts';
import { coerceValue } from './values.ts';

/** A document that passed validation. */
export interface NewDocument {
  readonly id: string;
  /** All fields except the id, typed. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** The same fields as they were sent: a number keeps its text, so that it can still become a String. */
  readonly rawFields: ReadonlyMap<string, JsonValue>;
  /** Outputs to use instead of analyzing the image: a non-empty text, not validated yet. */
  readonly import?: string;
  readonly thumbnail?: Uint8Array;
  /**
   * If present, this is an atomic update: the fields above are set, these are modified, and the other fields of the
   * earlier document stay unchanged.
   */
  readonly modifiers?: ReadonlyMap<string, readonly Modifier[]>;
  /**
   * The condition on the earlier document in `_version_`: above 1, its version; 1, that it exists; below 0, that it
   * does not exist.
   */
  readonly expectedVersion?: bigint;
}

/**
 * Formats a document as one line of JSON, without its expected version and otherwise lossless. `documentFromJson` reads
 * it again, and `validateDocument` accepts it like a document of a client, to check it under another schema.
 */
export function documentToJson(document: NewDocument): string {
  const members: [string, JsonValue][] = [['id', document.id], ...document.rawFields];
  for (const [name, list] of document.modifiers ?? []) {
    members.push([name, new JsonObject(list.map((modifier) => [modifier.name, modifier.value]))]);
  }
  if (document.import !== undefined) members.push(['import', document.import]);
  if (document.thumbnail !== undefined) members.push(['thumbnail', formatThumbnail(document.thumbnail)]);
  return stringifyJson(new JsonObject(members));
}

/**
 * Reads a text that `documentToJson` wrote, with a schema that has all its fields.
 *
 * @throws AkinError bad-request when a value does not fit into the schema; internal for a field that the schema does
 * not have
 */
export function documentFromJson(text: string, schema: Schema): NewDocument {
  const fields = new Map<string, FieldValue>();
  const rawFields = new Map<string, JsonValue>();
  const modifiers = new Map<string, readonly Modifier[]>();
  const rest: { import?: string; thumbnail?: Uint8Array } = {};
  let id = '';
  for (const [name, value] of (parseJson(text) as JsonObject).entries) {
    if (name === 'id') id = value as string;
    else if (name === 'import') rest.import = value as string;
    else if (name === 'thumbnail') rest.thumbnail = parseThumbnail(value as string);
    else {
      const field = schema.get(name);
      if (field === undefined) throw new AkinError('internal', `The schema has no field ${quote(name)}.`);
      if (isModifier(value)) {
        modifiers.set(name, readModifiers(field.type, [value]));
        continue;
      }
      fields.set(name, coerceValue(field.type, value));
      rawFields.set(name, value);
    }
  }
  return { id, fields, rawFields, ...rest, ...(modifiers.size > 0 ? { modifiers } : {}) };
}
