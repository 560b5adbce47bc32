import { parseDate } from './dates.ts';
import { badRequest } from './errors.ts';
import { isJsonArray, JsonNumber, type JsonValue, parseLong } from './json.ts';
import { parseLocation } from './location.ts';
import type { FieldType, FieldValue } from './schema.ts';
import { quote, unstorableReason } from './text.ts';

/** The type of a new field with this first value; null for null, arrays and objects, which decide no type. */
export function deriveType(value: JsonValue): FieldType | null {
  if (typeof value === 'boolean') return 'boolean';
  if (value instanceof JsonNumber) return value.isLong() ? 'long' : 'double';
  if (typeof value === 'string') return parseDate(value) === null ? 'string' : 'date';
  return null;
}

/**
 * Converts a value to the type of its field. A Long fits into a Double if it is exact; a number or boolean into a
 * String, as the text that was sent; a string into Long, Double, Boolean, date or location if the whole text is such a
 * value. Types with several values accept an array, or a single value. Nulls in an array are omitted.
 *
 * @throws AkinError bad-request that names the value, shortened, and the type
 */
export function coerceValue(type: FieldType, value: JsonValue): FieldValue {
  switch (type) {
    case 'boolean':
      return coerceBoolean(value);
    case 'long':
      return coerceLong(value);
    case 'double':
      return coerceDouble(value);
    case 'date':
      return coerceDate(value);
    case 'location':
      return (typeof value === 'string' ? parseLocation(value) : null) ?? typeMismatch(type, value);
    case 'string':
      return coerceString(value);
    case 'strings':
      return elementsOf(value).map(coerceString);
    case 'longs':
      return elementsOf(value).map(coerceLong);
    case 'doubles':
      return elementsOf(value).map(coerceDouble);
    case 'dates':
      return elementsOf(value).map(coerceDate);
    case 'text':
      return typeMismatch(type, value);
  }
}

/** Describes a value for a message, shortened: `"red" (a String)`. */
export function describeValue(value: JsonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return `${value} (a Boolean)`;
  if (typeof value === 'string') return `${quote(value)} (a String)`;
  if (value instanceof JsonNumber) {
    const text = value.text.length > 60 ? `${value.text.slice(0, 60)}…` : value.text;
    return `${text} (a ${value.isLong() ? 'Long' : 'Double'})`;
  }
  return isJsonArray(value) ? 'an array' : 'an object';
}

const TYPE_NAMES: Record<FieldType, string> = {
  boolean: 'a Boolean (true or false)',
  long: 'a Long (an integer of 64 bits)',
  double: 'a Double',
  date: 'a date (such as 2024-01-31 or 2024-01-31T12:30:00Z)',
  location: 'a location ("lat,lon" in degrees, -90 to 90 and -180 to 180)',
  string: 'a String',
  strings: 'a list of Strings',
  longs: 'a list of Longs',
  doubles: 'a list of Doubles',
  dates: 'a list of dates',
  text: 'the default search field, which is never sent',
};

function typeMismatch(type: FieldType, value: JsonValue, advice = ''): never {
  throw badRequest(`${describeValue(value)} does not fit into ${TYPE_NAMES[type]}${advice}`);
}

/** What to do if an array was sent for a single value. */
export const DEFINE_LIST =
  '; for several values, define the field as a list first (POST …/schema with field=<name>:string[], or import with --field), or change it: akin reindex --field <name>:string[]';

/** The first value of a field decides its type: prices that begin with a whole one make it a Long. */
const DEFINE_DOUBLE =
  '; for decimals, define the field as double first (POST …/schema, or import with --field <name>:double), or change it: akin reindex --field <name>:double';

function coerceBoolean(value: JsonValue): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true') return true;
  if (value === 'false') return false;
  return typeMismatch('boolean', value);
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function coerceLong(value: JsonValue): bigint {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string') return typeMismatch('long', value);
  const isDecimal = NUMBER.test(text) && /[.eE]/.test(text);
  return parseLong(text) ?? typeMismatch('long', value, isDecimal ? DEFINE_DOUBLE : '');
}

function coerceDouble(value: JsonValue): number {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string' || !NUMBER.test(text)) return typeMismatch('double', value);
  const double = Number(text);
  if (!Number.isFinite(double)) {
    throw badRequest(`${describeValue(value)} is beyond the range of a Double`);
  }
  if (!/[.eE]/.test(text) && BigInt(double) !== BigInt(text)) {
    throw badRequest(
      `${describeValue(value)} would lose digits in a Double; send it with a decimal point if that is meant`,
    );
  }
  return double;
}

function coerceDate(value: JsonValue): Date {
  return (typeof value === 'string' ? parseDate(value) : null) ?? typeMismatch('date', value);
}

function coerceString(value: JsonValue): string {
  const text = value instanceof JsonNumber ? value.text : typeof value === 'boolean' ? String(value) : value;
  if (typeof text !== 'string') return typeMismatch('string', value);
  const problem = unstorableReason(text);
  if (problem !== null) throw badRequest(`${describeValue(value)} contains ${problem}, which cannot be stored`);
  return text;
}

function elementsOf(value: JsonValue): readonly JsonValue[] {
  return isJsonArray(value) ? value.filter((element) => element !== null) : [value];
}
