import { badRequest } from './errors.ts';
import { isJsonArray, JsonObject, type JsonValue } from './json.ts';
import { type FieldType, type FieldValue, isListType, MAX_LONG, MIN_LONG } from './schema.ts';
import { quote } from './text.ts';
import { coerceValue, DEFINE_LIST } from './values.ts';

/** The operations of an atomic update on one field, with the names that Solr uses. */
export type ModifierName = 'set' | 'add' | 'add-distinct' | 'remove' | 'inc';

export interface Modifier {
  readonly name: ModifierName;
  /** The value as it was sent. Null in a `set` removes the field. */
  readonly value: JsonValue;
  /** The value in the type of its field; undefined for null. */
  readonly coerced: FieldValue | undefined;
}

export const MODIFIER_NAMES: readonly string[] = [
  'set',
  'add',
  'add-distinct',
  'remove',
  'inc',
] satisfies ModifierName[];

/** True if a value is a modification of a field: an object whose keys are all names of modifiers. */
export function isModifier(value: JsonValue | undefined): value is JsonObject {
  return value instanceof JsonObject && value.entries.length > 0 && unknownModifier(value) === undefined;
}

/** The first name in an object that is not a modifier. */
export function unknownModifier(value: JsonValue): string | undefined {
  return value instanceof JsonObject ? value.entries.find(([key]) => !MODIFIER_NAMES.includes(key))?.[0] : undefined;
}

/**
 * Reads the modifiers in the values of one field, in their order. A plain value among them becomes a `set`. Several
 * values of the same list modifier are merged, as XML sends them separately.
 *
 * @throws AkinError bad-request for a modifier that a field of this type does not support, or a value of the wrong type
 */
export function readModifiers(type: FieldType, values: readonly JsonValue[]): Modifier[] {
  const sent = values.flatMap((value): JsonObject['entries'] =>
    isModifier(value) ? value.entries : [['set', value]],
  ) as (readonly [ModifierName, JsonValue])[];
  const names = [...new Set(sent.map(([name]) => name))];
  if (!isListType(type) && names.length < sent.length) {
    throw badRequest('it is given twice, and takes one value');
  }
  return names.map((name) => {
    const own = sent.filter(([one]) => one === name).map(([, value]) => value);
    return isListType(type) ? ofList(type, name, own) : ofSingle(type, name, own[0] ?? null);
  });
}

/** The value that decides the type of a new field; null if there is none. */
export function modifiedValue(values: readonly JsonValue[]): JsonValue {
  const all = values.flatMap((value) => (isModifier(value) ? value.entries.map(([, one]) => one) : [value]));
  return all.find((value) => value !== null) ?? null;
}

/**
 * Computes the fields of a document after an atomic update.
 *
 * @param base the earlier fields; empty if the document does not exist
 * @throws AkinError bad-request when a number becomes too large for its field
 */
export function applyModifiers(
  base: ReadonlyMap<string, FieldValue>,
  set: ReadonlyMap<string, FieldValue>,
  modifiers: ReadonlyMap<string, readonly Modifier[]>,
): Map<string, FieldValue> {
  const fields = new Map([...base, ...set]);
  for (const [name, list] of modifiers) {
    for (const modifier of list) {
      const value = modified(name, fields.get(name), modifier);
      if (value === undefined || (Array.isArray(value) && value.length === 0)) fields.delete(name);
      else fields.set(name, value);
    }
  }
  return fields;
}

function ofList(type: FieldType, name: ModifierName, values: readonly JsonValue[]): Modifier {
  if (name === 'inc') throw badRequest('"inc" takes a number, and it is a list');
  const elements = values.flatMap((value) => (isJsonArray(value) ? [...value] : [value])).filter((one) => one !== null);
  if (elements.length === 0 && name === 'set') return { name, value: null, coerced: undefined };
  return { name, value: elements, coerced: coerceValue(type, elements) };
}

function ofSingle(type: FieldType, name: ModifierName, value: JsonValue): Modifier {
  if (name !== 'set' && name !== 'inc') {
    throw badRequest(`"${name}" changes a list; "set" and, for a number, "inc" change a single value${DEFINE_LIST}`);
  }
  if (name === 'inc' && type !== 'long' && type !== 'double') {
    throw badRequest(`"inc" takes a field of numbers; this one has the type ${type}`);
  }
  if (isJsonArray(value)) {
    throw badRequest(`an array was sent, and it takes one value${DEFINE_LIST}`);
  }
  if (value === null && name === 'set') return { name, value, coerced: undefined };
  return { name, value, coerced: coerceValue(type, value) };
}

function modified(field: string, before: FieldValue | undefined, { name, coerced }: Modifier): FieldValue | undefined {
  const list = () => (before ?? []) as readonly ListValue[];
  const given = () => (coerced ?? []) as readonly ListValue[];
  switch (name) {
    case 'set':
      return coerced;
    case 'add':
      return [...list(), ...given()] as FieldValue;
    case 'add-distinct': {
      const added = new Map(given().map((one) => [keyOf(one), one]));
      for (const one of list()) added.delete(keyOf(one));
      return [...list(), ...added.values()] as FieldValue;
    }
    case 'remove': {
      const gone = new Set(given().map(keyOf));
      return list().filter((one) => !gone.has(keyOf(one))) as FieldValue;
    }
    case 'inc':
      return before === undefined ? coerced : sum(field, before, coerced as bigint | number);
  }
}

type ListValue = string | bigint | number | Date;

/** Equal values have the same key. */
function keyOf(value: ListValue): string | bigint | number {
  return value instanceof Date ? value.getTime() : value;
}

function sum(field: string, before: FieldValue, by: bigint | number): bigint | number {
  if (typeof before === 'bigint' && typeof by === 'bigint') {
    const value = before + by;
    if (value <= MAX_LONG && value >= MIN_LONG) return value;
  } else if (typeof before === 'number' && typeof by === 'number') {
    const value = before + by;
    if (Number.isFinite(value)) return value;
  }
  throw badRequest(`The field ${quote(field)} cannot grow from ${before} by ${by}: the result does not fit its type.`);
}
