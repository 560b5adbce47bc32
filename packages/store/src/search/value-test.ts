import type { FieldType, Query } from '@akin/domain';
import { clauseColumn, type FoundColumn, type SearchedTables } from './columns.ts';
import { longBounds, readTerm } from './field-clauses.ts';
import { readDouble } from './query-values.ts';
import type { ValueTest } from './searcher/in-memory-columns.ts';

type ValueCondition = Omit<ValueTest, 'column'>;
type Range = Extract<Query, { kind: 'range' }>;

/** Types of one value that are compared here as in the database. */
const COMPARED: ReadonlySet<FieldType> = new Set(['string', 'long', 'double', 'boolean']);
/** With more conditions on values the event loop would be blocked. */
const MAX_CONDITIONS = 100;

/**
 * The condition of a query on the values of one column, if that is all of the query and values in memory can decide it.
 * @throws AkinError bad-request if it cannot be compiled either
 */
export function valueTest(query: Query, tables: SearchedTables): ValueTest | undefined {
  switch (query.kind) {
    case 'boost':
    case 'constant':
      return valueTest(query.query, tables);
    case 'term':
    case 'phrase':
    case 'range':
    case 'prefix':
    case 'exists': {
      const found = clauseColumn(tables, query);
      const { column, type } = found;
      if (column.kind !== 'column' || !COMPARED.has(type) || column.sql === 'id') return undefined;
      const asked = conditionOfClause(query, found);
      return asked && { ...asked, column };
    }
    case 'bool': {
      const { must, should, mustNot } = query;
      if (mustNot.length > 0) return undefined;
      if (must.length === 0) return anyOf(should, tables);
      return must.length === 1 && should.length === 0 ? valueTest(must[0] as Query, tables) : undefined;
    }
    default:
      return undefined;
  }
}

const matching = (is: (text: string) => boolean): ValueCondition => ({ values: new Set(), conditions: [is] });
const ANY = matching(() => true);
const NONE: ValueCondition = { values: new Set(), conditions: [] };

function conditionOfClause(
  query: Extract<Query, { kind: 'term' | 'phrase' | 'range' | 'prefix' | 'exists' }>,
  found: FoundColumn,
): ValueCondition | undefined {
  switch (query.kind) {
    case 'exists':
      return ANY;
    case 'range':
      return inRange(query, found);
    case 'prefix':
      return matching((text) => text.startsWith(query.value));
    default:
      return equal(query, found);
  }
}

function equal(
  { value, position }: { readonly value: string; readonly position: number },
  found: FoundColumn,
): ValueCondition {
  const wanted = readTerm(found, value, position);
  // A number may have several texts: -0 is 0.
  if (typeof wanted === 'number') return matching((text) => Number(text) === wanted);
  return wanted === undefined ? NONE : { values: new Set([String(wanted)]), conditions: [] };
}

function inRange(range: Range, found: FoundColumn): ValueCondition | undefined {
  const { low, high, includeLow, includeHigh } = range;
  if (low === null && high === null) return ANY;
  if (found.type === 'long') {
    const bounds = longBounds(range, found);
    if (bounds === undefined) return NONE;
    const [min, max] = bounds;
    return matching((text) => min <= BigInt(text) && BigInt(text) <= max);
  }
  if (found.type === 'string') return inStringRange(range);
  if (found.type !== 'double') return undefined;
  const [from, to] = [low, high].map((bound) => (bound === null ? null : readDouble(bound)));
  return matching((text) => {
    const number = Number(text);
    const isAbove = from == null || number > from || (includeLow && number === from);
    return isAbove && (to == null || number < to || (includeHigh && number === to));
  });
}

/** In the order of the collation "C", which all columns of strings have: by their bytes. */
function inStringRange({ low, high, includeLow, includeHigh }: Range): ValueCondition {
  const [from, to] = [low, high].map((bound) => (bound === null ? null : Buffer.from(bound)));
  return matching((text) => {
    const bytes = Buffer.from(text);
    const [above, below] = [from ? bytes.compare(from) : 1, to ? bytes.compare(to) : -1];
    return (above > 0 || (includeLow && above === 0)) && (below < 0 || (includeHigh && below === 0));
  });
}

/** Alternatives that all ask for values of the same column. */
function anyOf(queries: readonly Query[], tables: SearchedTables): ValueTest | undefined {
  const tests = queries.map((query) => valueTest(query, tables));
  const [first] = tests;
  if (first === undefined) return undefined;
  const { column } = first;
  const values = new Set<string>();
  const conditions: ValueTest['conditions'][number][] = [];
  for (const test of tests) {
    if (test === undefined || test.column.sql !== column.sql) return undefined;
    for (const value of test.values) values.add(value);
    conditions.push(...test.conditions);
  }
  return conditions.length > MAX_CONDITIONS ? undefined : { column, values, conditions };
}
