import type { FieldValue } from './schema.ts';
import { utf8Length } from './text.ts';
import { wordsOfValues } from './words.ts';

/*
 * Documents that PostgreSQL cannot store are rejected when they are sent: an error inside a commit would also stop
 * other changes. The numbers are limits of PostgreSQL.
 */

/** Maximum bytes of UTF-8 of all strings of a document together. */
const MAX_TEXT_BYTES = 500_000;
/** A tsvector has at most 2^20 - 1 bytes; the rest is reserved for words of the analysis (names of colours). */
const MAX_WORD_BYTES = 1_000_000;
/**
 * Below this size no count is needed: folding turns one byte into 11 at most, and pairs of characters with their
 * positions need less.
 */
const HARMLESS_TEXT_BYTES = 40_000;
/** Each word is stored twice: plain, and with the name of its field's column as prefix; the longest is `:labels:`. */
const COLUMN_NAME_BYTES = 8;
/**
 * A row must fit into a page of 8160 bytes. PostgreSQL moves the longest values to TOAST, which leaves at most 24 bytes
 * each. akin's own columns and the bitmap of nulls take the rest.
 */
const MAX_ROW_BYTES = 7_000;

/** Returns why a document cannot be stored, or null. */
export function storageProblem(id: string, fields: ReadonlyMap<string, FieldValue>): string | null {
  let textBytes = utf8Length(id);
  for (const value of fields.values()) textBytes += textBytesOf(value);
  if (textBytes > MAX_TEXT_BYTES) {
    return `its strings have ${textBytes} bytes together, more than the ${MAX_TEXT_BYTES} that one document may have`;
  }
  if (textBytes > HARMLESS_TEXT_BYTES && wordBytes([[id], ...[...fields.values()].map(textsOf)]) > MAX_WORD_BYTES) {
    return 'its strings have too many different words to be searched; shorten them or spread them over several documents';
  }
  if (rowBytes(fields.values()) > MAX_ROW_BYTES) {
    return `it has too many values (${fields.size}); one document can store about 850 numbers or 290 strings`;
  }
  return null;
}

function textBytesOf(value: FieldValue): number {
  if (typeof value === 'string') return utf8Length(value);
  if (!Array.isArray(value)) return 0;
  let bytes = 0;
  for (const element of value) if (typeof element === 'string') bytes += utf8Length(element);
  return bytes;
}

function textsOf(value: FieldValue): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : [];
}

/** Bytes of the words of some fields in a tsvector: each word once for its field, and once plain. */
function wordBytes(fields: Iterable<readonly string[]>): number {
  const plain = new Map<string, number>();
  let bytes = 0;
  for (const texts of fields) {
    const own = new Map<string, number>();
    for (const { word } of wordsOfValues(texts)) {
      own.set(word, (own.get(word) ?? 0) + 1);
      plain.set(word, (plain.get(word) ?? 0) + 1);
    }
    bytes += lexemeBytes(own) + own.size * COLUMN_NAME_BYTES;
  }
  return bytes + lexemeBytes(plain);
}

/** Bytes of the lexemes, with two bytes for each position, aligned to two. */
function lexemeBytes(positions: ReadonlyMap<string, number>): number {
  let bytes = 0;
  for (const [word, count] of positions) bytes += utf8Length(word) + 3 + 2 * Math.min(count, 256);
  return bytes;
}

function rowBytes(values: Iterable<FieldValue>): number {
  let fixed = 0;
  let varying = 0;
  let bytes = 0;
  for (const value of values) {
    const size = sizeInRow(value);
    if (size === 8) fixed++;
    else varying++;
    bytes += size;
  }
  // A value of 8 bytes is aligned to a multiple of 8: up to 7 bytes of padding after a value of another size.
  return bytes + 7 * Math.min(fixed, varying);
}

function sizeInRow(value: FieldValue): number {
  if (typeof value === 'boolean') return 1;
  if (typeof value === 'string') return value.length > 23 ? 24 : Math.min(1 + utf8Length(value), 24);
  return typeof value === 'object' && !(value instanceof Date) ? 24 : 8;
}
