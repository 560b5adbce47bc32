import { looksLikeDate, stringDateWarning } from './date-like.ts';
import type { NewDocument } from './document.ts';
import { AkinError, badRequest, type ErrorCode, type ErrorDetail } from './errors.ts';
import { parseId } from './ids.ts';
import { isJsonArray, JsonNumber, JsonObject, type JsonValue, parseLong } from './json.ts';
import { stringifyJson } from './json-write.ts';
import {
  isModifier,
  MODIFIER_NAMES,
  type Modifier,
  modifiedValue,
  readModifiers,
  unknownModifier,
} from './modifiers.ts';
import { fieldNameProblem } from './names.ts';
import { readPictureAddress } from './parse-url.ts';
import { type FieldType, type FieldValue, isListType, maxValues, type Schema, VERSION_FIELD } from './schema.ts';
import { storageProblem } from './storage-limits.ts';
import { quote, unstorableReason } from './text.ts';
import { parseThumbnail } from './thumbnail.ts';
import { MAX_FIELDS, type TypeClaims } from './type-claims.ts';
import { coerceValue, DEFINE_LIST, deriveType, describeValue } from './values.ts';

export type ValidatedDocument =
  | {
      readonly document: NewDocument;
      /**
       * One warning for each name that was not stored. A warning does not name the document, so show it only once for a
       * request.
       */
      readonly warnings: readonly string[];
      /** The types of the fields that neither the schema nor the claims have. Claim them if the document is taken. */
      readonly newTypes: ReadonlyMap<string, FieldType>;
    }
  | { readonly errors: readonly ErrorDetail[] };

/**
 * Validates a document and converts its values to their types. A field that neither the schema nor the claims have gets
 * its type from its value here.
 *
 * @param position the position of the document in its request, from 0, for messages
 * @param schema at the start of the request
 * @param claims the claims of the request, one object for all its documents
 */
export function validateDocument(
  json: JsonValue,
  position: number,
  schema: Schema,
  claims: TypeClaims,
): ValidatedDocument {
  if (!(json instanceof JsonObject)) {
    const msg = `The document at position ${position} must be a JSON object, not ${describeValue(json)}.`;
    return { errors: [{ position, code: 'bad-request', msg }] };
  }
  return new Validation(json, schema, claims).run(position);
}

/** Maximum errors that are collected for one document. */
const MAX_PROBLEMS = 100;
/** A field that searches add to documents. Clients may send it back. */
const SCORE = 'score';
/** Added by searches too. But older documents may have a field of this name, which then remains a normal field. */
const COLLAPSED = 'collapsed';

class Validation {
  readonly #schema: Schema;
  readonly #claims: TypeClaims;
  readonly #json: JsonObject;
  /** Without nulls. */
  readonly #members: Map<string, readonly JsonValue[]>;

  readonly #fields = new Map<string, FieldValue>();
  readonly #rawFields = new Map<string, JsonValue>();
  readonly #modifiers = new Map<string, readonly Modifier[]>();
  /** Whether the document has a modifier, so that it is an atomic update. */
  #isAtomic = false;
  readonly #newTypes = new Map<string, FieldType>();
  readonly #warnings: string[] = [];
  readonly #problems: { readonly code: ErrorCode; readonly text: string }[] = [];

  constructor(json: JsonObject, schema: Schema, claims: TypeClaims) {
    this.#schema = schema;
    this.#claims = claims;
    this.#json = json;
    this.#members = valuesByName(json);
  }

  run(position: number): ValidatedDocument {
    if (!this.#members.has('id')) this.#problem('the field "id" is required');
    const id = this.#take('id', parseId);
    const expectedVersion = this.#take(VERSION_FIELD, parseVersion);
    const imported = this.#take('import', parseImport);
    const thumbnail = this.#take('thumbnail', parseThumbnailValue);
    for (const [name, values] of this.#members) {
      // A document with millions of tiny members must not block other requests.
      if (this.#problems.length >= MAX_PROBLEMS || this.#newTypes.size > MAX_FIELDS) break;
      this.#readField(name, values);
    }
    if (this.#isAtomic) this.#clearNulls();
    this.#checkImage(imported !== undefined);
    this.#checkFieldCount();
    if (id === undefined || this.#problems.length > 0) return { errors: this.#errors(position, id) };
    const tooMuch = storageProblem(id, this.#ownValues());
    if (tooMuch !== null) {
      this.#problem(tooMuch, 'too-large');
      return { errors: this.#errors(position, id) };
    }
    const document = {
      id,
      fields: this.#fields,
      rawFields: this.#rawFields,
      ...(imported !== undefined && { import: imported }),
      ...(thumbnail !== undefined && { thumbnail }),
      ...(this.#isAtomic && { modifiers: this.#modifiers }),
      ...(expectedVersion !== undefined && { expectedVersion }),
    };
    return { document, warnings: this.#warnings, newTypes: this.#newTypes };
  }

  /** Reads a member that is not a field. */
  #take<T>(name: string, read: (value: JsonValue) => T): T | undefined {
    const values = this.#members.get(name) ?? [];
    this.#members.delete(name);
    return this.#attempt(
      () => `"${name}"`,
      () => {
        const value = this.#setValue(name, single(values));
        return value === undefined ? undefined : read(value);
      },
    );
  }

  /**
   * The value of a `set` of picture, outputs or thumbnail. Other members that are not fields reject an object
   * themselves.
   */
  #setValue(name: string, value: JsonValue | undefined): JsonValue | undefined {
    if (!isModifier(value) || (name !== 'import' && name !== 'thumbnail')) return value;
    const [entry] = value.entries;
    if (value.entries.length > 1 || entry?.[0] !== 'set' || entry[1] === null) {
      throw badRequest('it can only be set, to a value');
    }
    this.#isAtomic = true;
    return entry[1];
  }

  #readField(name: string, values: readonly JsonValue[]): void {
    if (name === 'text') {
      this.#problem('the field "text" cannot be sent: akin fills it with the words of all strings');
    } else if (this.#isOwn(name)) {
      this.#warnings.push(`The field ${quote(name)} is akin's own: what was sent for it is not stored.`);
    } else {
      this.#attempt(
        () => `field ${quote(name)}`,
        () => this.#store(name, values),
      );
    }
  }

  /** Whether akin computes this field itself. */
  #isOwn(name: string): boolean {
    const field = this.#schema.get(name);
    return name === SCORE || field?.origin === 'analysis' || (name === COLLAPSED && field === undefined);
  }

  #store(name: string, values: readonly JsonValue[]): void {
    const known = this.#schema.get(name)?.type ?? this.#claims.typeOf(name);
    if (values.some(isModifier)) {
      this.#modify(name, values, known);
      return;
    }
    const unknown = values.map(unknownModifier).find((one) => one !== undefined);
    if (unknown !== undefined) {
      throw badRequest(
        `an object was sent, and ${quote(unknown)} is not one of the modifiers ${MODIFIER_NAMES.join(', ')}`,
      );
    }
    if (known !== undefined && isListType(known)) {
      const elements = values.flat().filter((value) => value !== null);
      if (elements.length === 0) return;
      this.#requireFewValues(name, elements.length);
      this.#fields.set(name, coerceValue(known, elements));
      this.#rawFields.set(name, elements);
      return;
    }
    const origin = this.#schema.get(name)?.origin ?? 'document';
    const value = single(values, origin === 'document' ? DEFINE_LIST : '');
    if (value === undefined) return;
    const type = known ?? this.#newType(name, value);
    this.#fields.set(name, coerceValue(type, value));
    this.#rawFields.set(name, value);
    if (known === undefined) this.#newTypes.set(name, type);
    this.#warnAboutDates(name, type, [value]);
  }

  #warnAboutDates(name: string, type: FieldType, values: readonly JsonValue[]): void {
    if (type !== 'string' || !values.some((value) => typeof value === 'string' && looksLikeDate(value))) return;
    this.#warnings.push(stringDateWarning(name));
  }

  /** In an atomic update an absent field keeps its value, so that null must mean something else. */
  #clearNulls(): void {
    const nulls = this.#json.entries.filter(([name, value]) => value === null && !this.#members.has(name));
    for (const name of new Set(nulls.map(([name]) => name))) {
      const type = this.#schema.get(name)?.type ?? this.#claims.typeOf(name);
      // The field does not exist, or is none.
      if (type === undefined || type === 'text' || name === 'id' || this.#isOwn(name)) continue;
      this.#modifiers.set(name, readModifiers(type, [null]));
      this.#warnings.push(
        `Null cleared the field ${quote(name)}, as {"set":null} does, because of the modifiers beside it.`,
      );
    }
  }

  #modify(name: string, values: readonly JsonValue[], known: FieldType | undefined): void {
    this.#isAtomic = true;
    const value = modifiedValue(values);
    // The field does not exist, so there is nothing to remove.
    if (known === undefined && value === null) return;
    const type = known ?? this.#newType(name, value);
    const modifiers = readModifiers(type, values);
    for (const { coerced } of modifiers) if (Array.isArray(coerced)) this.#requireFewValues(name, coerced.length);
    const [only] = modifiers;
    if (modifiers.length === 1 && only?.name === 'set' && only.coerced !== undefined) {
      this.#fields.set(name, only.coerced);
      this.#rawFields.set(name, only.value);
    } else this.#modifiers.set(name, modifiers);
    if (known === undefined) this.#newTypes.set(name, type);
    this.#warnAboutDates(
      name,
      type,
      modifiers.map(({ value }) => value),
    );
  }

  #requireFewValues(name: string, count: number): void {
    const max = maxValues(this.#schema.get(name));
    if (count > max) throw new AkinError('too-large', `it has ${count} values, and ${max} is the limit`);
  }

  /** All values that were sent, to check them against the limits of a document. */
  #ownValues(): ReadonlyMap<string, FieldValue> {
    if (this.#modifiers.size === 0) return this.#fields;
    const values = new Map(this.#fields);
    for (const [name, modifiers] of this.#modifiers) {
      const all = modifiers.flatMap(({ coerced }) => (coerced === undefined ? [] : [coerced]));
      const [first] = all;
      if (first !== undefined) values.set(name, Array.isArray(first) ? (all.flat() as string[]) : first);
    }
    return values;
  }

  #newType(name: string, value: JsonValue): FieldType {
    const problem = fieldNameProblem(name);
    if (problem !== null) throw badRequest(problem);
    const type = deriveType(value);
    if (type === null) {
      const advice = isJsonArray(value) ? DEFINE_LIST : '';
      throw badRequest(`${describeValue(value)} has no type that a field can have${advice}`);
    }
    return type;
  }

  #checkImage(hasImport: boolean): void {
    const image = this.#fields.get('image');
    if (typeof image !== 'string') return;
    this.#attempt(
      () => 'field "image"',
      () => {
        // Beside outputs it is only shown, and may be any text.
        const address = hasImport && image !== '' ? image : addressOf(image);
        if (address === image) return;
        this.#fields.set('image', address);
        this.#rawFields.set('image', address);
      },
    );
  }

  #checkFieldCount(): void {
    if (this.#newTypes.size === 0) return;
    const count = this.#claims.countFields(this.#schema, this.#newTypes.keys());
    if (count > MAX_FIELDS) {
      this.#problem(`with its new fields the collection would have more than ${MAX_FIELDS} fields, which is the limit`);
    }
  }

  /** Runs `action` and records its error as a problem of `subject`, which is named only then. */
  #attempt<T>(subject: () => string, action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof AkinError)) throw error;
      this.#problem(`${subject()}: ${error.message.replace(/\.$/, '')}`, error.code);
      return undefined;
    }
  }

  #problem(text: string, code: ErrorCode = 'bad-request'): void {
    this.#problems.push({ code, text });
  }

  #errors(position: number, id: string | undefined): ErrorDetail[] {
    const name =
      id === undefined ? `Document at position ${position}` : `Document ${quote(id)} at position ${position}`;
    return this.#problems.map(({ code, text }) => ({
      position,
      ...(id !== undefined && { id }),
      code,
      msg: `${name}: ${text}.`,
    }));
  }
}

/** The values of each name. Null means that the field is absent. */
function valuesByName(json: JsonObject): Map<string, readonly JsonValue[]> {
  const members = new Map<string, JsonValue[]>();
  for (const [key, value] of json.entries) {
    if (value === null) continue;
    // The name that older clients use.
    const name = key === 'pxl_import' ? 'import' : key;
    const values = members.get(name);
    if (values === undefined) members.set(name, [value]);
    else values.push(value);
  }
  return members;
}

function single(values: readonly JsonValue[], advice = ''): JsonValue | undefined {
  const value = values[0];
  if (values.length > 1) throw badRequest('it is given twice, and takes one value');
  if (isJsonArray(value)) throw badRequest(`an array was sent, and it takes one value${advice}`);
  return value;
}

function parseImport(value: JsonValue): string {
  // Some clients send an object, although `outputs` is a string.
  if (value instanceof JsonObject) return stringifyJson(value);
  if (typeof value !== 'string' || value.trim() === '') {
    throw badRequest('it must be the JSON string that an analysis answers as "outputs"');
  }
  const problem = unstorableReason(value);
  if (problem !== null) throw badRequest(`it contains ${problem}, which cannot be stored`);
  return value;
}

/**
 * Parses the condition in `_version_`; undefined for 0: no condition. @throws AkinError bad-request when it is
 * not a number
 */
export function parseVersion(value: JsonValue): bigint | undefined {
  const text = value instanceof JsonNumber ? value.text : value;
  const version = typeof text === 'string' ? parseLong(text) : null;
  if (version === null) throw badRequest(`${describeValue(value)} is not a version: it must be a whole number`);
  return version === 0n ? undefined : version;
}

function parseThumbnailValue(value: JsonValue): Uint8Array {
  if (typeof value !== 'string') throw badRequest('it must be base64 or a data URI');
  return parseThumbnail(value);
}

/** @returns the address without blanks around it */
function addressOf(image: string): string {
  if (image.trim() === '') throw badRequest('it must not be empty; omit it if there is no image');
  const read = readPictureAddress(image);
  if ('address' in read) return read.address;
  throw badRequest(
    `${describeValue(image)} is not an http or https URL of a picture: it ${read.problem}; send a file along with its document (multipart/form-data with document and file), or use akin import --picture-column --pictures`,
  );
}
