import { type AkinError, badRequest } from './errors.ts';
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-bytes.ts';
import { MAX_LONG, MIN_LONG } from './schema.ts';

/**
 * Lossless JSON (RFC 8259). Numbers keep their text: `5` differs from `5.0`, and 64-bit integers keep every digit.
 * Objects keep repeated keys in order, which Solr's command map and documents need.
 */
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** A number as it was sent. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** True without '.', 'e' and 'E'. If `parseJson` returned it, such a number fits into a signed 64-bit integer. */
  isLong(): boolean {
    return !/[.eE]/.test(this.text);
  }
}

/** An object with its members in the order in which they were sent, repeated keys included. */
export class JsonObject {
  readonly entries: readonly (readonly [key: string, value: JsonValue])[];

  constructor(entries: readonly (readonly [key: string, value: JsonValue])[]) {
    this.entries = entries;
  }

  /** Returns the last value of a key, as most JSON parsers do, or undefined. */
  get(key: string): JsonValue | undefined {
    return this.entries.findLast((entry) => entry[0] === key)?.[1];
  }

  /** All values of a key in order. */
  getAll(key: string): JsonValue[] {
    return this.entries.filter((entry) => entry[0] === key).map((entry) => entry[1]);
  }
}

/** `Array.isArray` that narrows a `JsonValue`. */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Parses an integer: digits with an optional minus. Returns null if it does not fit into signed 64 bits. */
export function parseLong(text: string): bigint | null {
  const first = text.charCodeAt(0) === 0x2d ? 1 : 0;
  if (text.length === first) return null;
  for (let at = first; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return null;
  }
  // The way over a number is faster where the number is exact.
  if (text.length <= 15) return BigInt(Number(text));
  if (text.length <= 18) return BigInt(text);
  // BigInt takes quadratic time, so leading zeros are removed and numbers that are too long are rejected first.
  const digits = text.replace(/^(-?)0+(?=[0-9])/, '$1');
  if (digits.length > 20) return null;
  const value = BigInt(digits);
  return value < MIN_LONG || value > MAX_LONG ? null : value;
}

export interface JsonLimits {
  /** Maximum nesting of arrays and objects. Default: 64. */
  readonly depth?: number;
}

/** Where a text starts inside a larger one, counted from 1. Used only for messages. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

const TEXT_START: TextPosition = { line: 1, column: 1 };

/**
 * Parses one JSON value. Strings may contain NUL and lone surrogates (`\ud800`): RFC 8259 allows them, and code that
 * stores a string rejects them with the name of the field (see `unstorableReason`).
 *
 * @param start where the text starts in what the user sent
 * @throws AkinError bad-request that names line, column and what was expected there; also for an integer beyond 64 bits
 * and for nesting beyond the limit
 */
export function parseJson(text: string, limits: JsonLimits = {}, start: TextPosition = TEXT_START): JsonValue {
  return new Parser(text, limits.depth ?? 64, start).document();
}

/** Converts an offset to line and column. Columns count UTF-16 units from 1. */
function positionAt(text: string, offset: number, start: TextPosition): TextPosition {
  let { line } = start;
  let lineStart = 1 - start.column;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

export function jsonError(position: TextPosition, problem: string): AkinError {
  return badRequest(`The JSON cannot be read at line ${position.line}, column ${position.column}: ${problem}.`);
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside strings
const CONTROL = /[\u0000-\u001f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside strings
const BAD_IN_STRING = /[\u0000-\u001f]|\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})|\\["\\/bfnrtu]/g;

/** Recursive, which is safe: the depth limit is checked before each step down. */
class Parser {
  readonly #text: string;
  readonly #depthLimit: number;
  readonly #start: TextPosition;
  #at = 0;
  #depth = 0;
  /**
   * The first backslash at or after `#at`. It is cached, so that strings without backslash do not search the whole
   * text.
   */
  #backslash = -1;

  constructor(text: string, depthLimit: number, start: TextPosition) {
    this.#text = text;
    this.#depthLimit = depthLimit;
    this.#start = start;
  }

  document(): JsonValue {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    this.#skipBlanks();
    const value = this.#value('a JSON value');
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw this.#expected('nothing after the value');
    return value;
  }

  #value(expected: string): JsonValue {
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case QUOTE:
        return this.#string();
      case OPEN_OBJECT:
        return this.#object();
      case OPEN_ARRAY:
        return this.#array();
      case 0x74: // t
        return this.#word('true', true, expected);
      case 0x66: // f
        return this.#word('false', false, expected);
      case 0x6e: // n
        return this.#word('null', null, expected);
      default:
        if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return this.#number();
        throw this.#expected(expected);
    }
  }

  #object(): JsonObject {
    this.#enter();
    const entries: (readonly [string, JsonValue])[] = [];
    if (this.#text.charCodeAt(this.#at) === CLOSE_OBJECT) {
      this.#leave();
      return new JsonObject(entries);
    }
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== QUOTE) {
        throw this.#expected(
          entries.length === 0 ? 'a key in double quotes or }' : 'a key in double quotes after the comma',
        );
      }
      const key = this.#string();
      this.#skipBlanks();
      if (this.#text.charCodeAt(this.#at) !== COLON) throw this.#expected('a colon behind the key');
      this.#at++;
      this.#skipBlanks();
      entries.push([key, this.#value('a value behind the colon')]);
      this.#skipBlanks();
      const code = this.#text.charCodeAt(this.#at);
      if (code === CLOSE_OBJECT) break;
      if (code !== COMMA) throw this.#expected('a comma or }');
      this.#at++;
      this.#skipBlanks();
    }
    this.#leave();
    return new JsonObject(entries);
  }

  #array(): JsonValue[] {
    this.#enter();
    const values: JsonValue[] = [];
    if (this.#text.charCodeAt(this.#at) === CLOSE_ARRAY) {
      this.#leave();
      return values;
    }
    for (;;) {
      values.push(this.#value(values.length === 0 ? 'a value or ]' : 'a value after the comma'));
      this.#skipBlanks();
      const code = this.#text.charCodeAt(this.#at);
      if (code === CLOSE_ARRAY) break;
      if (code !== COMMA) throw this.#expected('a comma or ]');
      this.#at++;
      this.#skipBlanks();
    }
    this.#leave();
    return values;
  }

  #enter(): void {
    if (++this.#depth > this.#depthLimit) {
      throw this.#error(this.#at, `arrays and objects may be nested at most ${this.#depthLimit} deep`);
    }
    this.#at++;
    this.#skipBlanks();
  }

  #leave(): void {
    this.#depth--;
    this.#at++;
  }

  #string(): string {
    const text = this.#text;
    const open = this.#at;
    let close = text.indexOf('"', open + 1);
    if (this.#backslash < open) {
      const found = text.indexOf('\\', open);
      this.#backslash = found < 0 ? text.length : found;
    }
    const escaped = this.#backslash < close;
    if (escaped) while (close >= 0 && isEscaped(text, close)) close = text.indexOf('"', close + 1);
    if (close < 0) throw this.#error(open, 'the string that begins here has no closing quote');
    this.#at = close + 1;
    if (!escaped) {
      const value = text.slice(open + 1, close);
      if (CONTROL.test(value)) throw this.#stringError(open, close);
      return value;
    }
    try {
      // JSON.parse is the fastest way to decode escapes, and as strict as this parser.
      return JSON.parse(text.slice(open, close + 1)) as string;
    } catch {
      throw this.#stringError(open, close);
    }
  }

  #stringError(open: number, close: number): AkinError {
    const inside = this.#text.slice(open + 1, close);
    for (const found of inside.matchAll(BAD_IN_STRING)) {
      if (found[0] !== '\\' && found[0].startsWith('\\')) continue;
      const at = open + 1 + found.index;
      if (found[0] === '\\') {
        return this.#error(at, `${JSON.stringify(this.#text.slice(at, at + 2))} is not an escape that JSON knows`);
      }
      return this.#error(at, `the control character ${codePoint(found[0])} must be escaped inside a string`);
    }
    return this.#error(open, 'the string that begins here is not a JSON string');
  }

  #number(): JsonNumber {
    NUMBER.lastIndex = this.#at;
    const text = NUMBER.exec(this.#text)?.[0];
    if (text === undefined) throw this.#error(this.#at, 'expected digits after the minus');
    const number = new JsonNumber(text);
    if (text.length > 18 && number.isLong() && parseLong(text) === null) {
      throw this.#error(
        this.#at,
        `the integer ${text.length > 60 ? `${text.slice(0, 60)}…` : text} is beyond 64 bits; send it as a string, or as a decimal number`,
      );
    }
    this.#at += text.length;
    return number;
  }

  #word<T>(word: string, value: T, expected: string): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#expected(expected);
    this.#at += word.length;
    return value;
  }

  #skipBlanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  #expected(what: string): AkinError {
    const found = this.#text.codePointAt(this.#at);
    const name = found === undefined ? 'the end' : describeCodePoint(found);
    return this.#error(this.#at, `expected ${what}, found ${name}`);
  }

  #error(offset: number, problem: string): AkinError {
    return jsonError(positionAt(this.#text, offset, this.#start), problem);
  }
}

/** True if an odd number of backslashes precedes. Runs of backslashes do not overlap, so the total time is linear. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === 0x5c) first--;
  return (at - first) % 2 === 1;
}

/** The character itself if it is printable, otherwise its code point. */
export function describeCodePoint(code: number): string {
  const char = String.fromCodePoint(code);
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(char) ? char : codePoint(char);
}

function codePoint(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
