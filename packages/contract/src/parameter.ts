import { z } from 'zod';

/*
 * A parameter is text on the wire. Each of these functions parses one text into a value, refuses an invalid text, and
 * appears in the OpenAPI document with the type of the value. A parameter that may repeat is `texts()` or a `z.array` of
 * one of them, and gets all values in order. For other parameters the first value counts, as in Solr.
 */

/**
 * `true` or `false` in any case, also `1`/`0`, `on`/`off`, `yes`/`no`: booleans as clients of all languages spell them.
 */
export function flag() {
  return z.stringbool({
    truthy: ['true', '1', 'on', 'yes'],
    falsy: ['false', '0', 'off', 'no'],
    error: 'must be true or false',
  });
}

/** A whole number from `min` to `max`; `advice` is added to the message when it is not. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER, advice = '') {
  const lowest = min === Number.MIN_SAFE_INTEGER;
  const highest = max === Number.MAX_SAFE_INTEGER;
  const range = highest ? (lowest ? '' : ` of at least ${min}`) : lowest ? ` up to ${max}` : ` from ${min} to ${max}`;
  const error = `must be a whole number${range}${advice}`;
  return z.codec(z.string().regex(/^[+-]?\d{1,16}$/, error), z.int(error).min(min, error).max(max, error), {
    decode: Number,
    encode: String,
  });
}

/** A whole number. Any negative number means that there is no limit, as in Solr. */
export function limit(max: number = Number.MAX_SAFE_INTEGER) {
  return integer(Number.MIN_SAFE_INTEGER, max);
}

/** A decimal number from `min` to `max`. */
export function decimal(min: number, max: number) {
  const error = `must be a number from ${min} to ${max}`;
  return z.codec(
    z.string().regex(/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/, error),
    z.number(error).min(min, error).max(max, error),
    { decode: Number, encode: String },
  );
}

/** One of a closed list of words. */
export function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** Any text. */
export function text() {
  return z.string();
}

/** Any number of texts. */
export function texts() {
  return z.array(text()).default([]);
}
