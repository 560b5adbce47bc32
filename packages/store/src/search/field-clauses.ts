import {
  type AkinError,
  elementType,
  type FieldType,
  foldText,
  isListType,
  MAX_LONG,
  MIN_LONG,
  parseLocation,
  type Query,
  quote,
  typeName,
  type WildcardPart,
} from '@akin/domain';
import type { SqlValue } from '../database/engine/engine.ts';
import { type FoundColumn, hasDescriptor, type SearchedTables } from './columns.ts';
import type { Clock } from './date-math.ts';
import { quoteLexeme } from './document-words.ts';
import { fuzzyCondition } from './fuzzy.ts';
import type { Params } from './params.ts';
import { clauseError, readBoolean, readDate, readDouble, readInteger, typeMismatch } from './query-values.ts';
import { boxSql } from './space.ts';

export interface CompileContext extends Clock {
  readonly tables: SearchedTables;
  readonly params: Params;
}

type Clause<Kind extends Query['kind']> = Extract<Query, { kind: Kind }>;
/** Writes the SQL of a condition on one value. @param value the SQL of the value */
type Condition = (value: string) => string;

/** `field:value` on every field but `text`. */
export function termSql(term: Clause<'term' | 'phrase'>, found: FoundColumn, context: CompileContext): string {
  const { value, position } = term;
  const { column } = found;
  const fail = () => typeMismatch(found.name, found.type, value, position);
  if (column.kind === 'location') {
    const point = parseLocation(value);
    if (point === null) throw fail();
    const { params } = context;
    recordUse(found, context);
    return `(d.${column.lat} = ${params.add(point.lat, 'float8')} and d.${column.lon} = ${params.add(point.lon, 'float8')})`;
  }
  if (column.kind !== 'column') throw notSearchable(found, position);
  if (elementType(found.type) === 'date') {
    if (!isMultiValued(found)) recordUse(found, context);
    const span = readDate(value, context);
    if (span === null) throw fail();
    const [first, next] = [context.params.add(span.first, 'timestamptz'), context.params.add(span.next, 'timestamptz')];
    return overValues(found, context, (value) => `(${value} >= ${first} and ${value} < ${next})`);
  }
  recordUse(found, context);
  const literal = readTerm(found, value, position);
  if (literal === undefined) return 'false';
  const param = context.params.add(literal, SQL_TYPES[elementType(found.type)] ?? 'text');
  return isMultiValued(found) ? `d.${column.sql} @> array[${param}]` : `d.${column.sql} = ${param}`;
}

/** Types of values that are compared by equality. */
const SQL_TYPES: Partial<Record<FieldType, string>> = {
  string: 'text',
  long: 'int8',
  double: 'float8',
  boolean: 'boolean',
};

/**
 * Several `field:value` on one field, any of which may match, as one condition: lists of ten thousand ids occur in
 * practice. `count` is how many of them match.
 */
export function anyTermSql(
  terms: readonly Clause<'term'>[],
  found: FoundColumn,
  context: CompileContext,
): { where: string; count: string | 1 } {
  const { column } = found;
  if (column.kind !== 'column') throw notSearchable(found, terms[0]?.position ?? 0);
  recordUse(found, context);
  const literals = terms.map((term) => readTerm(found, term.value, term.position)).filter((one) => one !== undefined);
  const param = context.params.add(literals, `${SQL_TYPES[elementType(found.type)]}[]`);
  if (!isMultiValued(found)) return { where: `d.${column.sql} = any(${param})`, count: 1 };
  return {
    where: `d.${column.sql} && ${param}`,
    count: `(select count(*) from unnest(${param}) q(v) where q.v = any(d.${column.sql}))::float8`,
  };
}

/**
 * Several `field:value` on one field, all of which must match, as one condition: a field with one value matches at most
 * one of different values. `count` is their number.
 */
export function allTermsSql(
  terms: readonly Clause<'term'>[],
  found: FoundColumn,
  context: CompileContext,
): { where: string; count: number } {
  const [first] = terms;
  const literals = new Set(terms.map((term) => readTerm(found, term.value, term.position)));
  const count = terms.length;
  if (first === undefined || literals.has(undefined)) return { where: 'false', count };
  if (literals.size === 1) return { where: termSql(first, found, context), count };
  if (!isMultiValued(found) || found.column.kind !== 'column') return { where: 'false', count };
  recordUse(found, context);
  const param = context.params.add([...literals] as SqlValue[], `${SQL_TYPES[elementType(found.type)]}[]`);
  return { where: `d.${found.column.sql} @> ${param}`, count };
}

export function canJoinTerms(found: FoundColumn): boolean {
  return found.column.kind === 'column' && SQL_TYPES[elementType(found.type)] !== undefined;
}

/** The value that a term compares with. Undefined if no value of the type can be equal (5.5 among integers). */
export function readTerm(
  found: FoundColumn,
  value: string,
  position: number,
): string | bigint | number | boolean | undefined {
  const type = elementType(found.type);
  if (type === 'string') return value;
  if (type === 'long') {
    const number = readInteger(value);
    if (number === null) throw typeMismatch(found.name, found.type, value, position);
    return number.exact && number.floor >= MIN_LONG && number.floor <= MAX_LONG ? number.floor : undefined;
  }
  const read = type === 'double' ? readDouble(value) : readBoolean(value);
  if (read === null) throw typeMismatch(found.name, found.type, value, position);
  return read;
}

/** `field:[low TO high]` on every field but `text`. At least one bound is given: without any it is `field:*`. */
export function rangeSql(range: Clause<'range'>, found: FoundColumn, context: CompileContext): string {
  if (found.column.kind === 'location') return rectangleSql(range, found, found.column, context);
  if (found.column.kind !== 'column') throw notSearchable(found, range.position);
  if (!isMultiValued(found)) recordUse(found, context);
  return overValues(found, context, boundsCondition(range, found, context));
}

/** Records that an index on the column would help. Documents are found by their ids anyway. */
function recordUse(found: FoundColumn, { tables: { uses } }: CompileContext): void {
  if (found.column.kind === 'location') uses?.add(`${found.column.lat} place`);
  if (found.column.kind !== 'column' || found.column.sql === 'id') return;
  uses?.add(`${found.column.sql} ${isMultiValued(found) ? 'elements' : 'filter'}`);
}

function readBound<T>(
  reader: (text: string) => T | null,
  text: string | null,
  found: FoundColumn,
  position: number,
): T | null {
  if (text === null) return null;
  const value = reader(text);
  if (value === null) throw typeMismatch(found.name, found.type, text, position);
  return value;
}

/**
 * The least and the greatest integer of a range: bounds between integers, and beyond 64 bits, become the nearest
 * integers inside. Undefined: there is none.
 */
export function longBounds(
  { low, high, includeLow, includeHigh, position }: Clause<'range'>,
  found: FoundColumn,
): readonly [bigint, bigint] | undefined {
  const [from, to] = [low, high].map((bound) => readBound(readInteger, bound, found, position));
  const min = !from ? MIN_LONG : from.exact && includeLow ? from.floor : from.floor + 1n;
  const max = !to ? MAX_LONG : to.exact && !includeHigh ? to.floor - 1n : to.floor;
  if (min > max || min > MAX_LONG || max < MIN_LONG) return undefined;
  return [min < MIN_LONG ? MIN_LONG : min, max > MAX_LONG ? MAX_LONG : max];
}

function boundsCondition(range: Clause<'range'>, found: FoundColumn, context: CompileContext): Condition {
  const { params } = context;
  const { low, high, includeLow, includeHigh, position } = range;
  const type = elementType(found.type);
  const read = <T>(reader: (text: string) => T | null, text: string | null) => readBound(reader, text, found, position);
  if (type === 'long') {
    const bounds = longBounds(range, found);
    if (bounds === undefined) return () => 'false';
    const [first, last] = bounds.map((bound) => params.add(bound, 'int8'));
    return (value) => `(${value} >= ${first} and ${value} <= ${last})`;
  }
  const conditions: Condition[] = [];
  const compare = (operator: string, param: string) => {
    conditions.push((value) => `${value} ${operator} ${param}`);
  };
  if (type === 'date') {
    // A bound that is a day means the whole day, at both ends.
    const [from, to] = [low, high].map((bound) => read((text) => readDate(text, context), bound));
    if (from) compare('>=', params.add(includeLow ? from.first : from.next, 'timestamptz'));
    if (to) compare('<', params.add(includeHigh ? to.next : to.first, 'timestamptz'));
  } else {
    const reader: (text: string) => string | number | boolean | null =
      type === 'double' ? readDouble : type === 'boolean' ? readBoolean : (text) => text;
    const [from, to] = [read(reader, low), read(reader, high)];
    const sqlType = SQL_TYPES[type] ?? 'text';
    if (from !== null) compare(includeLow ? '>=' : '>', params.add(from, sqlType));
    if (to !== null) compare(includeHigh ? '<=' : '<', params.add(to, sqlType));
  }
  return (value) => `(${conditions.map((condition) => condition(value)).join(' and ')})`;
}

/** Two corners, south-west and north-east. A rectangle may cross the date line. */
function rectangleSql(
  range: Clause<'range'>,
  found: FoundColumn,
  column: Extract<FoundColumn['column'], { kind: 'location' }>,
  context: CompileContext,
): string {
  recordUse(found, context);
  const { params } = context;
  const corner = (text: string | null) => {
    const point = text === null ? null : parseLocation(text);
    if (point === null && text !== null) throw typeMismatch(found.name, found.type, text, range.position);
    return point;
  };
  const southWest = corner(range.low) ?? { lat: -90, lon: -180 };
  const northEast = corner(range.high) ?? { lat: 90, lon: 180 };
  const box = { south: southWest.lat, north: northEast.lat, west: southWest.lon, east: northEast.lon };
  return boxSql(column, box, params, [range.includeLow ? '>=' : '>', range.includeHigh ? '<=' : '<']);
}

/** `field:*` */
export function existsSql(found: FoundColumn, { tables }: CompileContext): string {
  const { column } = found;
  if (column.kind === 'location') return `d.${column.lat} is not null`;
  if (column.kind === 'words') return `length(d.${column.sql}) > 0`;
  if (column.kind === 'output') return hasDescriptor(tables, column.module);
  if (column.kind === 'version') return 'true';
  return isMultiValued(found) ? `cardinality(d.${column.sql}) > 0` : `d.${column.sql} is not null`;
}

/** Prefixes and wildcards: on strings over the whole value, on `text` over its folded words. */
export function patternSql(
  pattern: Clause<'prefix' | 'wildcard'>,
  found: FoundColumn,
  context: CompileContext,
): string {
  if (pattern.kind === 'wildcard' && found.type === 'text') return wordPatternSql(pattern, found, context);
  const parts = pattern.kind === 'prefix' ? [pattern.value, { any: '*' as const }] : pattern.parts;
  const param = context.params.add(likePattern(parts), 'text');
  // A pattern that begins with letters is a range of values.
  if (typeof parts[0] === 'string' && found.type === 'string') recordUse(found, context);
  return overStrings(found, pattern.position, 'wildcards', context, (value) => `${value} like ${param}`);
}

export function fuzzySql(fuzzy: Clause<'fuzzy'>, found: FoundColumn, context: CompileContext): string {
  if (found.type === 'text') return wordPatternSql(fuzzy, found, context);
  return overStrings(found, fuzzy.position, 'fuzzy values', context, fuzzyOf(fuzzy, fuzzy.value, context));
}

function fuzzyOf({ edits, position }: Clause<'fuzzy'>, value: string, { params }: CompileContext): Condition {
  return fuzzyCondition(value, edits, params, (problem) => clauseError(position, problem));
}

/** A clause that may match several words of the field `text`. */
export type PatternClause = Clause<'wildcard' | 'fuzzy' | 'range'>;

export function wordCondition(clause: PatternClause, found: FoundColumn, context: CompileContext): Condition {
  switch (clause.kind) {
    case 'wildcard': {
      const pattern = context.params.add(likePattern(clause.parts.map(foldPart)), 'text');
      return (value) => `${value} like ${pattern}`;
    }
    case 'fuzzy':
      return fuzzyOf(clause, foldText(clause.value), context);
    case 'range': {
      const fold = (text: string | null) => (text === null ? null : foldText(text));
      const folded = { ...clause, low: fold(clause.low), high: fold(clause.high) };
      return boundsCondition(folded, { ...found, type: 'string' }, context);
    }
  }
}

/** Maximum number of words in one tsquery: PostgreSQL checks all of them for each document that has one of them. */
const WORDS_TOGETHER = 50;

/**
 * A wildcard, fuzzy value or range of the field `text`: by the index on words if its words are known, otherwise by
 * comparing the words of each row.
 */
export function wordPatternSql(clause: PatternClause, found: FoundColumn, context: CompileContext): string {
  const { params, tables } = context;
  if (found.column.kind !== 'words') throw new Error(`${found.name} is not the field of words`);
  const column = `d.${found.column.sql}`;
  const words = tables.expansions?.get(clause);
  if (words === undefined) {
    params.countLoop();
    const condition = wordCondition(clause, found, context);
    // Lexemes with a leading colon are the words of single fields.
    return `exists (select from unnest(tsvector_to_array(${column})) e(v) where left(e.v, 1) <> ':' and ${condition('e.v collate "C"')})`;
  }
  const queries: string[] = [];
  for (let from = 0; from < words.length; from += WORDS_TOGETHER) {
    queries.push(
      words
        .slice(from, from + WORDS_TOGETHER)
        .map(quoteLexeme)
        .join(' | '),
    );
  }
  const [first] = queries;
  if (first === undefined) return 'false';
  // If the planner sees the words, it expects far too many matches of rare ones and compares every document instead.
  if (queries.length === 1) return `${column} @@ (select ${params.add(first, 'tsquery')})`;
  return (
    `d.doc in (select x.doc from unnest(${params.add(queries, 'tsquery[]')}) q (query) cross join lateral ` +
    `(select x.doc from ${tables.sqlSchema}.documents x where x.${found.column.sql} @@ q.query offset 0) x)`
  );
}

function foldPart(part: WildcardPart): WildcardPart {
  return typeof part === 'string' ? foldText(part) : part;
}

/** The pattern of SQL's LIKE in which only the wildcards of the query are wildcards. */
export function likePattern(parts: readonly WildcardPart[]): string {
  return parts
    .map((part) => (typeof part === 'string' ? part.replace(/[\\%_]/g, '\\$&') : part.any === '*' ? '%' : '_'))
    .join('');
}

function overStrings(
  found: FoundColumn,
  position: number,
  what: string,
  context: CompileContext,
  condition: Condition,
): string {
  if (found.column.kind === 'output' || found.column.kind === 'bytes') throw notSearchable(found, position);
  if (elementType(found.type) !== 'string') {
    throw clauseError(position, `${what} are for String fields, and ${quote(found.name)} is a ${typeName(found.type)}`);
  }
  return overValues(found, context, condition);
}

function overValues(found: FoundColumn, { params }: CompileContext, condition: Condition): string {
  if (found.column.kind !== 'column') throw new Error(`${found.name} is not one column`);
  if (!isMultiValued(found)) return condition(`d.${found.column.sql}`);
  params.countLoop();
  const value = elementType(found.type) === 'string' ? 'e.v collate "C"' : 'e.v';
  return `exists (select from unnest(d.${found.column.sql}) e(v) where ${condition(value)})`;
}

function isMultiValued(found: FoundColumn): boolean {
  return isListType(found.type);
}

function notSearchable(found: FoundColumn, position: number): AkinError {
  return clauseError(
    position,
    `values of ${quote(found.name)} cannot be searched; ${found.name}:* tells which documents have one`,
  );
}
