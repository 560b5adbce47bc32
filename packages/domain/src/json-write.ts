import { formatDate } from './dates.ts';
import { JsonNumber, JsonObject } from './json.ts';

/** A number that is written with '.' or an exponent, so that readers take it for a Double: `5.0`. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/**
 * Writes a value as JSON. A bigint is written as a Long with all its digits, `Double` always with '.' or an exponent, a
 * plain number as by `JSON.stringify`, `JsonNumber` verbatim, Date as a time in UTC; Map, `JsonObject` and plain
 * objects as objects. Members that are undefined are omitted; undefined in an array, NaN, infinities and invalid dates
 * become null.
 *
 * @param options.indent blanks for each level; 0 (the default) writes one line
 */
export function stringifyJson(value: unknown, options: { readonly indent?: number } = {}): string {
  return write(value, ' '.repeat(options.indent ?? 0), '');
}

function write(value: unknown, step: string, margin: string): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : 'null';
    case 'bigint':
      return value.toString();
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      return value === null ? 'null' : writeObject(value, step, margin);
    default:
      return 'null';
  }
}

function writeObject(value: object, step: string, margin: string): string {
  if (value instanceof JsonNumber) return value.text;
  if (value instanceof Double) return writeDouble(value.value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'null' : `"${formatDate(value)}"`;
  const inner = margin + step;
  if (Array.isArray(value)) {
    return enclose(
      '[',
      value.map((element) => write(element, step, inner)),
      ']',
      step,
      margin,
    );
  }
  const colon = step === '' ? ':' : ': ';
  const members: string[] = [];
  for (const [key, member] of membersOf(value)) {
    if (member !== undefined) members.push(JSON.stringify(key) + colon + write(member, step, inner));
  }
  return enclose('{', members, '}', step, margin);
}

function membersOf(value: object): Iterable<readonly [string, unknown]> {
  if (value instanceof JsonObject) return value.entries;
  if (value instanceof Map) return value as Map<string, unknown>;
  return Object.entries(value);
}

function enclose(open: string, parts: readonly string[], close: string, step: string, margin: string): string {
  if (parts.length === 0) return open + close;
  if (step === '') return open + parts.join(',') + close;
  const line = `\n${margin}${step}`;
  return `${open}${line}${parts.join(`,${line}`)}\n${margin}${close}`;
}

function writeDouble(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
