import type { Query } from '@akin/domain';
import type { ValueTest } from '../searcher/held-columns.ts';
import { clauseColumn, type SearchedTables } from './columns.ts';
import { readTerm } from './field-clauses.ts';

/** Types whose values have one text, which equals where they do. */
const COMPARED_BY_TEXT: ReadonlySet<string> = new Set(['string', 'long', 'boolean']);

/**
 * What a query asks of the values of one column, if that is all that it asks.
 * @throws AkinError bad-request where it cannot be compiled either
 */
export function valueTest(query: Query, tables: SearchedTables): ValueTest | undefined {
  switch (query.kind) {
    case 'boost':
    case 'constant':
      return valueTest(query.query, tables);
    case 'term':
    case 'phrase': {
      const found = clauseColumn(tables, query);
      if (found.column.kind !== 'column' || !COMPARED_BY_TEXT.has(found.type) || found.column.sql === 'id') return;
      const value = readTerm(found, query.value, query.position);
      return { column: found.column.sql, values: value === undefined ? [] : [String(value)], isExcluded: false };
    }
    case 'bool': {
      const { must, should, mustNot } = query;
      if (mustNot.length === 0) {
        if (must.length === 0) return anyOf(should, tables);
        return must.length === 1 && should.length === 0 ? valueTest(must[0] as Query, tables) : undefined;
      }
      const others = [...must, ...should];
      const excluded = anyOf(mustNot, tables);
      const isWhole = others.length > 0 && others.every(({ kind }) => kind === 'all');
      return isWhole && excluded ? { ...excluded, isExcluded: true } : undefined;
    }
    default:
      return undefined;
  }
}

/** Alternatives that all ask for values of the same column. */
function anyOf(queries: readonly Query[], tables: SearchedTables): ValueTest | undefined {
  const tests = queries.map((query) => valueTest(query, tables));
  const [first] = tests;
  if (first === undefined) return undefined;
  const { column } = first;
  const values: string[] = [];
  for (const test of tests) {
    if (test === undefined || test.column !== column || test.isExcluded) return undefined;
    values.push(...test.values);
  }
  return { column, values, isExcluded: false };
}
