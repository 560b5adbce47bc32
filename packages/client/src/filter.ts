/** A query in akin's query language, with escaped values. `String(filter)` is its text. */
export class Filter {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** A value in a {@link filter}; a list matches any of its values. */
export type FilterValue = string | number | bigint | boolean | Date | Filter | readonly FilterValue[];

/**
 * Template tag that creates a filter. Values are escaped, so that a user's text cannot change the query.
 *
 * Another filter is inserted as its text, so it needs parentheses: filter`(${cheap}) AND brand:${name}`.
 *
 * @example filter`brand:${name} AND price:[${min} TO *]`
 * @throws TypeError for values that no document can have, such as undefined and NaN, and for empty lists
 */
export function filter(texts: TemplateStringsArray, ...values: readonly FilterValue[]): Filter {
  const parts = texts.map((text, index) => (index < values.length ? text + escaped(values[index]) : text));
  return new Filter(parts.join(''));
}

/** Escapes the name of a field, for example one with blanks or colons: filter`${field('net weight')}:${5}`. */
export function field(name: string): Filter {
  return new Filter(name.replace(/[^\p{L}\p{N}_]/gu, (character) => `\\${character}`));
}

function escaped(value: FilterValue | undefined): string {
  if (value instanceof Filter) return value.text;
  if (value instanceof Date) return quoted(value.toISOString());
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'bigint':
    case 'boolean':
      return quoted(String(value));
    case 'number':
      if (Number.isFinite(value)) return quoted(String(value));
      break;
    case 'object':
      if (Array.isArray(value) && value.length > 0) return `(${value.map(escaped).join(' OR ')})`;
  }
  throw new TypeError(
    Array.isArray(value) ? 'An empty list in a filter matches nothing.' : `A filter cannot contain ${String(value)}.`,
  );
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
