import { AkinError, isListType, quote, typeName } from '@akin/domain';
import type { FieldCollapse } from './collapse-request.ts';
import { findColumn, type SearchedTables } from './columns.ts';
import type { MatchSource } from './match-source.ts';
import type { SearchRequest } from './request.ts';
import { scoreKeys, valueColumn } from './score-keys.ts';
import type { ValueColumn } from './searcher/value-lists.ts';
import { keyColumns, orderBy, type SortClause, sortKeys } from './sort.ts';

/*
 * A result that shows one document for each value of a field: the head of its group. The searcher finds the nearest
 * heads, see nearest.ts, and those that columns order, see ordered-heads.ts. Every other statement finds the heads among
 * the matches, in the database: they may be many.
 */

/** The order whose first document is the head of its group. */
export function headOrder({ order }: FieldCollapse, { sort = [] }: SearchRequest): readonly SortClause[] {
  return order ?? [{ name: 'score', direction: 'desc' }, ...sort.filter(({ name }) => name !== 'score')];
}

export function isNearestHead(collapse: FieldCollapse, request: SearchRequest): boolean {
  const [first] = headOrder(collapse, request);
  return first?.name === 'score' && first.direction === 'desc';
}

export function needsScores(collapse: FieldCollapse, request: SearchRequest): boolean {
  return headOrder(collapse, request).some(({ name }) => name === 'score');
}

/** @throws AkinError bad-request if the field has no single value */
export function groupColumn({ field, parameter }: FieldCollapse, tables: SearchedTables): ValueColumn {
  const fail = (problem: string) => new AkinError('bad-request', `Parameter ${parameter}: ${problem}.`);
  const { column, type } = findColumn(tables, field, fail);
  if (isListType(type)) {
    throw fail(
      `documents may have several values of ${quote(field)}, a ${typeName(type)}: collapse by a field with one`,
    );
  }
  if (column.kind === 'column') return { sql: column.sql, type };
  throw fail(
    `documents cannot be collapsed by ${quote(field)}, which is a ${typeName(type)}: use a field with one value`,
  );
}

/** The matches that represent their groups, as rows `d` with all columns of `documents`. */
export function onlyHeads(
  { params, from, value, inRange }: MatchSource,
  collapse: FieldCollapse,
  request: SearchRequest,
  tables: SearchedTables,
): MatchSource {
  const keys = sortKeys(headOrder(collapse, request), () => scoreKeys(value, request.rank, params), tables, params);
  const { sql: group } = groupColumn(collapse, tables);
  // Each document without a value is a group by itself, or they are one group, or none.
  const own = collapse.missing === 'each' ? `case when d.${group} is null then d.doc end` : 'null::int8';
  const found = collapse.missing === 'leave-out' ? 'm.g is not null' : 'true';
  const matches = `select d.*, d.${group} as g, ${own} as own, ${valueColumn(value)}${keyColumns(keys)} from ${from}`;
  return {
    params,
    from: `(select distinct on (m.g, m.own) m.* from (${matches}) m where ${inRange} and ${found} order by m.g, m.own, ${orderBy(keys)}) d`,
    value: typeof value === 'string' ? 'd.value' : value,
    inRange: 'true',
  };
}
