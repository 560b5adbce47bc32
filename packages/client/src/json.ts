import { isJsonArray, JsonNumber, JsonObject, type JsonValue, parseJson } from '@akin/domain';

/**
 * A value of a response in plain JavaScript, as JSON.stringify takes it. An integer beyond 2^53 is the text of its
 * digits, which akin takes back for the same field.
 */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

/**
 * Parses a response of akin without losing digits: integers that a JavaScript number cannot represent (`color_rerank`
 * and other 64-bit values) become the text of their digits, all others numbers.
 *
 * @throws {AkinError} `bad-request` when the text is not JSON.
 */
export function parseResponse(text: string): Plain {
  return plain(parseJson(text));
}

function plain(value: JsonValue): Plain {
  if (value instanceof JsonNumber) {
    const number = Number(value.text);
    return value.isLong() && !Number.isSafeInteger(number) ? value.text : number;
  }
  if (value instanceof JsonObject) {
    return Object.fromEntries(value.entries.map(([key, member]) => [key, plain(member)]));
  }
  return isJsonArray(value) ? value.map(plain) : value;
}

/** Writes a value as JSON.stringify does, and a bigint with all its digits, as responses have it. */
export function writeJson(value: unknown): string {
  return stringifyValue(value) ?? 'null';
}

/** Undefined for what JSON.stringify leaves out. */
function stringifyValue(value: unknown): string | undefined {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([key, member]) => {
    const text = stringifyValue(member);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${members.join(',')}}`;
}
