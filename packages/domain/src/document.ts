import { AkinError } from './errors.ts';
import { JsonObject, type JsonValue, parseJson } from './json.ts';
import { stringifyJson } from './json-write.ts';
import { isModifier, type Modifier, readModifiers } from './modifiers.ts';
import type { FieldValue, Schema } from './schema.ts';
import { quote } from './text.ts';
import { formatThumbnail, parseThumbnail } from './thumbnail.ts';
import { fitValue } from './values.ts';

/** A document that passed validation. */
export interface NewDocument {
  readonly id: string;
  /** All fields but the id, typed. */
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** The same fields as they were sent: a number keeps its text, so that it can still become a String. */
  readonly sent: ReadonlyMap<string, JsonValue>;
  /** Outputs to use instead of analyzing the image: a text that is not empty, whose content nobody looked at yet. */
  readonly import?: string;
  readonly thumbnail?: Uint8Array;
  /**
   * Given, this is an atomic update: the fields above are set, these are changed, and all others stay as they are in the
   * document before it.
   */
  readonly modifiers?: ReadonlyMap<string, readonly Modifier[]>;
  /** What `_version_` asks of the document before: above 1 it, 1 that there is one, below 0 that there is none. */
  readonly expectedVersion?: bigint;
}

/**
 * A document as one line of JSON, lossless but for its expected version: `documentFromJson` makes the same one of it, and `validateDocument` takes
 * it like a document that was sent, to check it again under another schema.
 */
export function documentToJson(document: NewDocument): string {
  const members: [string, JsonValue][] = [['id', document.id], ...document.sent];
  for (const [name, list] of document.modifiers ?? []) {
    members.push([name, new JsonObject(list.map((modifier) => [modifier.name, modifier.value]))]);
  }
  if (document.import !== undefined) members.push(['import', document.import]);
  if (document.thumbnail !== undefined) members.push(['thumbnail', formatThumbnail(document.thumbnail)]);
  return stringifyJson(new JsonObject(members));
}

/**
 * The document of a text that `documentToJson` wrote, typed by a schema that has all its fields.
 *
 * @throws AkinError bad-request when a value does not fit into the schema; internal for a field that it does not have
 */
export function documentFromJson(text: string, schema: Schema): NewDocument {
  const fields = new Map<string, FieldValue>();
  const sent = new Map<string, JsonValue>();
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
      fields.set(name, fitValue(field.type, value));
      sent.set(name, value);
    }
  }
  return { id, fields, sent, ...rest, ...(modifiers.size > 0 ? { modifiers } : {}) };
}
