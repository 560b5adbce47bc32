import { createHash } from 'node:crypto';
import {
  AkinError,
  type Distance,
  elementType,
  type FieldType,
  isListType,
  type ParameterLookup,
  parseGeodist,
  unescapeBackslashes,
} from '@akin/domain';
import type { SqlValue } from '../database/engine/engine.ts';
import { findColumn, type SearchedTables } from './columns.ts';
import type { Params } from './params.ts';
import type { ValueColumn } from './searcher/value-lists.ts';
import { distanceSql, locationColumn } from './space.ts';

/** `name` is a field, `id`, `score`, or `random_` and digits, which is a different order for each number. */
export interface SortClause {
  readonly name: string;
  readonly direction: 'asc' | 'desc';
  /** Order by distance. Then the name is not used. */
  readonly distance?: Distance;
  /**
   * Which value of a field with several represents the document. Default: the least if ascending, the greatest if
   * descending.
   */
  readonly value?: 'min' | 'max';
}

export interface SortKey {
  /** SQL over a row `d` of `documents`. Null: the score or distance, which a statement selects as `value` anyway. */
  readonly sql: string | null;
  readonly type: 'text' | 'int8' | 'float8' | 'timestamptz' | 'boolean';
  readonly descending: boolean;
  /** The column of `documents` that it is, if it is one. */
  readonly column?: ValueColumn;
}

export type ColumnKey = SortKey & { readonly column: ValueColumn };

const MAX_CLAUSES = 50;

const SORT_TYPES: Partial<Record<FieldType, SortKey['type']>> = {
  boolean: 'boolean',
  long: 'int8',
  double: 'float8',
  date: 'timestamptz',
  string: 'text',
};

/**
 * Parses the parameter `sort`: `price desc, geodist() asc, field(labels,max) asc, id asc`. A backslash escapes blanks,
 * commas and backslashes in a name.
 * @param parameter gives `pt` and `sfield` of the request for `geodist()`
 * @throws AkinError bad-request that names the clause
 */
export function parseSort(text: string, parameter: ParameterLookup = () => undefined): SortClause[] {
  const clauses: SortClause[] = [];
  for (const clause of text.match(/(?:\\.|(?:geodist|field)\s*\([^()]*\)|[^,\\]|\\$)+/gsu) ?? []) {
    const call = /^\s*(geodist\s*\([^()]*\))\s*(?:\s(asc|desc)\s*)?$/isu.exec(clause);
    const distance = call && parseGeodist(call[1] as string, parameter);
    if (distance) {
      if (call[2] === undefined) throw sortError(`expected asc or desc after ${JSON.stringify(call[1])}`);
      clauses.push({ name: 'geodist()', direction: directionOf(call[2]), distance });
      continue;
    }
    const field = /^\s*field\(\s*((?:\\.|[^\s\\,()])+)\s*(?:,\s*(min|max)\s*)?\)\s+(asc|desc)\s*$/isu.exec(clause);
    if (field !== null) {
      const value = field[2]?.toLowerCase() as 'min' | 'max' | undefined;
      const name = unescapeBackslashes(field[1] as string);
      clauses.push({ name, direction: directionOf(field[3] as string), ...(value && { value }) });
      continue;
    }
    const parts = /^\s*((?:\\.|[^\s\\])+)\s+(asc|desc)\s*$/isu.exec(clause);
    if (parts === null) {
      if (clause.trim() === '') continue;
      throw sortError(`expected a name and asc or desc, found ${JSON.stringify(clause.trim().slice(0, 60))}`);
    }
    const [, name = '', direction = ''] = parts;
    clauses.push({
      name: unescapeBackslashes(name),
      direction: directionOf(direction),
    });
  }
  if (clauses.length > MAX_CLAUSES) throw sortError(`it has more than ${MAX_CLAUSES} clauses`);
  return clauses;
}

function directionOf(word: string): 'asc' | 'desc' {
  return word.toLowerCase() === 'asc' ? 'asc' : 'desc';
}

/**
 * The keys of an order, ending with the id, so that it is total.
 * @param score returns the keys of falling score; none if all matches have the same score. Called only if the order
 * needs them: a parameter that no statement uses has no type.
 */
export function sortKeys(
  clauses: readonly SortClause[],
  score: () => readonly SortKey[],
  tables: SearchedTables,
  params: Params,
): SortKey[] {
  const keys: SortKey[] = [];
  for (const { name, direction, distance, value } of clauses) {
    const descending = direction === 'desc';
    if (distance !== undefined) {
      const column = locationColumn(findColumn(tables, distance.field, sortError), sortError);
      keys.push({ sql: distanceSql(column, distance.from, params), type: 'float8', descending });
      continue;
    }
    const field = tables.schema.fields.get(name);
    const random = field === undefined ? /^random_?([0-9]+)$/.exec(name) : null;
    if (name === 'score') keys.push(...score().map((key) => ({ ...key, descending: key.descending === descending })));
    else if (random !== null) {
      const seed = params.add(BigInt.asIntN(64, BigInt((random[1] as string).slice(0, 40))), 'int8');
      keys.push({ sql: `hashtextextended(d.id, ${seed})`, type: 'int8', descending });
    } else if (field !== undefined && isListType(field.type)) {
      // Predefined lists always had an order, by the least or the greatest value.
      if (value === undefined && field.origin === 'document') {
        throw sortError(
          `${JSON.stringify(name)} is a list, and a document with several values has no single place: order by one of them, field(${name},min) ${direction} or field(${name},max) ${direction}`,
        );
      }
      keys.push({ ...listKey(name, value ?? (descending ? 'max' : 'min'), tables), descending });
    } else keys.push({ ...fieldKey(name, tables, descending, keys.length === 0), descending });
    if (name === 'id') return keys;
  }
  keys.push({ sql: 'd.id', type: 'text', descending: false, column: { sql: 'id', type: 'string' } });
  return keys;
}

function fieldKey(
  name: string,
  tables: SearchedTables,
  descending: boolean,
  first: boolean,
): Omit<SortKey, 'descending'> {
  const { column, type } = findColumn(tables, name, sortError);
  const sortType = SORT_TYPES[type];
  if (column.kind !== 'column' || sortType === undefined) {
    const reason = sortType === undefined ? ', which is not a single value' : '';
    throw sortError(`documents cannot be ordered by ${JSON.stringify(name)}${reason}`);
  }
  if (first && name !== 'id') tables.uses?.add(`${column.sql} ${descending ? 'falling' : 'rising'}`);
  return { sql: `d.${column.sql}`, type: sortType, column: { sql: column.sql, type } };
}

function listKey(name: string, value: 'min' | 'max', tables: SearchedTables): Pick<SortKey, 'sql' | 'type'> {
  const { column, type } = findColumn(tables, name, sortError);
  const sortType = SORT_TYPES[elementType(type)];
  if (column.kind !== 'column' || sortType === undefined) {
    throw sortError(`documents cannot be ordered by ${JSON.stringify(name)}, whose values cannot be compared`);
  }
  const collate = sortType === 'text' ? ' collate "C"' : '';
  return { sql: `(select ${value}(e.v${collate}) from unnest(d.${column.sql}) e(v))${collate}`, type: sortType };
}

/** The column of a statement that holds the key number `i`. */
export function keyColumn({ sql }: SortKey, i: number): string {
  return sql === null ? 'value' : `k${i}`;
}

/** The keys that are not the value, as columns of a statement. Each begins with a comma. */
export function keyColumns(keys: readonly SortKey[]): string {
  return keys.map((key, i) => (key.sql === null ? '' : `, ${key.sql} as ${keyColumn(key, i)}`)).join('');
}

/** `order by` over {@link keyColumn}. Missing values come last, in ascending and descending order. */
export function orderBy(keys: readonly SortKey[]): string {
  return keys.map((key, i) => `m.${keyColumn(key, i)} ${key.descending ? 'desc' : 'asc'} nulls last`).join(', ');
}

/** SQL that is true for the rows after the one whose keys the cursor contains. */
export function afterCursor(keys: readonly SortKey[], cursor: readonly SqlValue[], params: Params): string {
  return keys.reduceRight((rest, sortKey, i) => {
    const { type, descending } = sortKey;
    const value = cursor[i] ?? null;
    const key = `m.${keyColumn(sortKey, i)}`;
    if (value === null) return `(${key} is null and ${rest})`;
    const param = params.add(value, type);
    const beyond = `(${key} ${descending ? '<' : '>'} ${param} or ${key} is null)`;
    return rest === 'false' ? beyond : `(${beyond} or (${key} = ${param} and ${rest}))`;
  }, 'false');
}

/** Identifies an order. A cursor mark is valid only for the order that it was made for. */
export function orderFingerprint(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 8);
}

/** The cursor mark after a row, as URL-safe text. */
export function encodeCursor(keys: readonly SortKey[], values: readonly SqlValue[], fingerprint: string): string {
  const plain = keys.map((_, i) => {
    const value = values[i];
    if (value instanceof Date) return value.getTime();
    return typeof value === 'bigint' ? String(value) : value;
  });
  return Buffer.from(JSON.stringify([fingerprint, ...plain])).toString('base64url');
}

/** @throws AkinError bad-request if the mark is invalid, or is one of another order */
export function decodeCursor(mark: string, keys: readonly SortKey[], fingerprint: string): SqlValue[] {
  const foreign = () =>
    new AkinError(
      'bad-request',
      'cursorMark must be * or the nextCursorMark of the same search, with the same sort and the same rank.by.',
    );
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(mark, 'base64url').toString());
  } catch {
    throw foreign();
  }
  if (!Array.isArray(read) || read.length !== keys.length + 1 || read[0] !== fingerprint) throw foreign();
  return keys.map(({ type }, i) => {
    const value: unknown = read[i + 1];
    if (value === null) return null;
    if (type === 'text' && typeof value === 'string') return value;
    if (type === 'boolean' && typeof value === 'boolean') return value;
    if (type === 'float8' && typeof value === 'number') return value;
    if (type === 'int8' && typeof value === 'string' && /^-?[0-9]{1,19}$/.test(value)) return BigInt(value);
    if (type === 'timestamptz' && typeof value === 'number' && Math.abs(value) <= 8.64e15) return new Date(value);
    throw foreign();
  });
}

function sortError(problem: string): AkinError {
  return new AkinError('bad-request', `Parameter sort: ${problem}.`);
}
