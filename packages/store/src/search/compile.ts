import { AkinError, type Query } from '@akin/domain';
import { clauseColumn, type FoundColumn } from './columns.ts';
import {
  allTermsSql,
  anyTermSql,
  type CompileContext,
  canJoinTerms,
  existsSql,
  fuzzySql,
  patternSql,
  rangeSql,
  termSql,
  wordPatternSql,
} from './field-clauses.ts';
import { Params } from './params.ts';
import { clauseError } from './query-values.ts';
import { boxAround, boxSql, distanceRangeSql, distanceSql, FARTHEST, locationColumn } from './space.ts';
import { phraseSql, wordPrefixSql, wordsSql } from './text-clauses.ts';

/** A query as SQL over a row `d` of `documents`. */
export interface CompiledQuery {
  /** A boolean expression; null counts as false. */
  readonly where: string;
  /** The score of a match: one number for all, or an expression that is valid for matching rows. */
  readonly score: number | string;
}

/** Beyond this length the database would spend more time on parsing the statement than on answering it. */
const MAX_SQL = 8_000_000;

/**
 * Turns a query into SQL. Values become parameters, columns come from the schema: no text of a user becomes SQL.
 *
 * Scores: a text match scores by its words (see `text-clauses.ts`), everything else 1. The scores of matching clauses
 * are added, and boosts multiply them.
 *
 * @throws AkinError bad-request for an unknown field, or a value that does not fit its field
 */
export function compileQuery(query: Query, context: CompileContext): CompiledQuery {
  return compile(query, context, true) ?? { where: 'false', score: 0 };
}

/** The condition of a query, without scores. A search compiles each query once for all of its statements. */
export function conditionOf(query: Query, { params, ...context }: CompileContext): string {
  const { conditions } = context.tables;
  let condition = conditions?.get(query);
  if (condition === undefined) {
    const own = new Params();
    condition = { where: compile(query, { ...context, params: own }, false)?.where ?? 'false', params: own };
    conditions?.set(query, condition);
  }
  return params.include(condition.where, condition.params);
}

/** @returns undefined if the query has no words (`text:"?!"`): it has no effect then, as in Solr */
function compile(query: Query, context: CompileContext, scored: boolean): CompiledQuery | undefined {
  switch (query.kind) {
    case 'all':
      return { where: 'true', score: 1 };
    case 'none':
      return { where: 'false', score: 0 };
    case 'bool':
      return compileBool(query, context, scored);
    case 'boost': {
      const inner = compile(query.query, context, scored);
      if (inner === undefined || typeof inner.score === 'number') {
        return inner && { where: inner.where, score: (inner.score as number) * query.factor };
      }
      // A parameter that no statement uses has no type.
      if (!scored) return inner;
      return { where: inner.where, score: `(${inner.score} * ${context.params.add(query.factor, 'float8')})` };
    }
    case 'constant': {
      const inner = compile(query.query, context, false);
      return inner && { where: inner.where, score: query.score };
    }
    case 'distance': {
      const column = placeColumn(query.distance.field, query.position, context);
      context.tables.uses?.add(`${column.lat} place`);
      return constant(distanceRangeSql(column, query.distance, query, context.params));
    }
    case 'box': {
      const column = placeColumn(query.field, query.position, context);
      context.tables.uses?.add(`${column.lat} place`);
      return constant(boxSql(column, boxAround(query.center, query.kilometers), context.params));
    }
    case 'by-distance': {
      const inner = compile(query.query, context, false);
      const column = placeColumn(query.distance.field, query.position, context);
      if (inner === undefined || !scored) return inner;
      const distance = distanceSql(column, query.distance.from, context.params);
      // A document without a location has the maximum distance, as in Solr.
      return { where: inner.where, score: `(coalesce(${distance}, ${FARTHEST}) / ${query.unit})` };
    }
    default:
      return compileClause(query, context);
  }
}

function placeColumn(field: string, position: number, { tables }: CompileContext) {
  return locationColumn(clauseColumn(tables, { field, position }), (problem) => clauseError(position, problem));
}

type Clause = Exclude<
  Query,
  { kind: 'all' | 'none' | 'bool' | 'boost' | 'constant' | 'distance' | 'box' | 'by-distance' }
>;

function compileClause(clause: Clause, context: CompileContext): CompiledQuery | undefined {
  const found = clauseColumn(context.tables, clause);
  const isText = found.column.kind === 'words';
  context.params.countCondition();
  switch (clause.kind) {
    case 'term':
      return isText ? wordsSql(clause, found, context) : constant(termSql(clause, found, context));
    case 'phrase':
      return isText ? phraseSql(clause, context) : constant(termSql(clause, found, context));
    case 'words':
      return wordsSql(clause, found, context);
    case 'prefix':
      return isText ? wordPrefixSql(clause, context) : constant(patternSql(clause, found, context));
    case 'wildcard':
      return constant(patternSql(clause, found, context));
    case 'fuzzy':
      return constant(fuzzySql(clause, found, context));
    case 'range':
      if (clause.low === null && clause.high === null) return constant(existsSql(found, context));
      return constant(isText ? wordPatternSql(clause, found, context) : rangeSql(clause, found, context));
    case 'exists':
      return constant(existsSql(found, context));
  }
}

function constant(where: string): CompiledQuery {
  return { where, score: 1 };
}

function compileBool(
  { must, should, mustNot }: Extract<Query, { kind: 'bool' }>,
  context: CompileContext,
  scored: boolean,
): CompiledQuery | undefined {
  const required = compileAll(must, context, scored);
  const excluded = compileAny(mustNot, context, false);
  const optional = compileOptional(should, required.length > 0, context, scored);
  if (required.length + optional.length + excluded.length === 0) return undefined;

  const conditions = required.map(({ where }) => where);
  // With only exclusions this is false: they have nothing to exclude from.
  if (required.length === 0) conditions.push(anyOf(optional));
  // A comparison with a missing value is null, which must not exclude.
  if (excluded.length > 0) conditions.push(`(${anyOf(excluded)}) is not true`);
  const where = checkedLength(conditions.length === 1 ? (conditions[0] as string) : `(${conditions.join(' and ')})`);
  return { where, score: scored ? boolScore(required, optional, context) : 0 };
}

/**
 * Next to required clauses, optional ones only change scores. Without scores they have no effect, but must still be
 * valid.
 */
function compileOptional(
  should: readonly Query[],
  hasRequired: boolean,
  context: CompileContext,
  scored: boolean,
): CompiledQuery[] {
  if (scored || !hasRequired) return compileAny(should, context, scored);
  // They are compiled into other parameters, which are dropped: a parameter that no statement uses has no type.
  compileAny(should, { ...context, params: new Params() }, false);
  return [];
}

function anyOf(queries: readonly CompiledQuery[]): string {
  const [only] = queries;
  if (queries.length <= 1) return only?.where ?? 'false';
  return `(${queries.map(({ where }) => where).join(' or ')})`;
}

function boolScore(
  required: readonly CompiledQuery[],
  optional: readonly CompiledQuery[],
  { params }: CompileContext,
): number | string {
  const constants = required.reduce((sum, { score }) => sum + (typeof score === 'number' ? score : 0), 0);
  const varying = required.map(({ score }) => score).filter((score) => typeof score === 'string');
  if (varying.length + optional.length === 0) return constants;
  const value = (score: number | string) => (typeof score === 'number' ? params.add(score, 'float8') : score);
  const parts = [
    ...(constants === 0 ? [] : [value(constants)]),
    ...varying,
    ...optional.map(({ where, score }) => `case when ${where} then ${value(score)} else 0 end`),
  ];
  return checkedLength(sum(parts));
}

type Term = Extract<Query, { kind: 'term' }>;
type JoinTerms = (
  terms: readonly Term[],
  found: FoundColumn,
  context: CompileContext,
) => { where: string; count: number | string };

function compileAll(queries: readonly Query[], context: CompileContext, scored: boolean): CompiledQuery[] {
  return compileJoined(queries, context, scored, allTermsSql);
}

function compileAny(queries: readonly Query[], context: CompileContext, scored: boolean): CompiledQuery[] {
  return compileJoined(queries, context, scored, anyTermSql);
}

/** The database takes seconds to plan thousands of comparisons of one column, and no time for a list. */
function compileJoined(
  queries: readonly Query[],
  context: CompileContext,
  scored: boolean,
  join: JoinTerms,
): CompiledQuery[] {
  const terms = new Map<string, Term[]>();
  for (const query of queries) {
    if (query.kind !== 'term') continue;
    const same = terms.get(query.field);
    if (same === undefined) terms.set(query.field, [query]);
    else same.push(query);
  }
  const compiled: CompiledQuery[] = [];
  const joinedFields = new Set<string>();
  for (const query of queries) {
    const same = query.kind === 'term' ? (terms.get(query.field) ?? []) : [];
    const [first] = same;
    const found = first && same.length > 1 ? clauseColumn(context.tables, first) : undefined;
    if (found === undefined || !canJoinTerms(found)) {
      const one = compile(query, context, scored);
      if (one !== undefined) compiled.push(one);
    } else if (!joinedFields.has(found.name)) {
      joinedFields.add(found.name);
      const { where, count } = join(same, found, context);
      compiled.push({ where, score: count });
    }
  }
  return compiled;
}

/** A sum as a balanced tree: the database parses a long chain of + recursively. */
function sum(parts: readonly string[]): string {
  if (parts.length <= 1) return parts[0] ?? '0';
  const half = parts.length >> 1;
  return `(${sum(parts.slice(0, half))} + ${sum(parts.slice(half))})`;
}

function checkedLength(sql: string): string {
  if (sql.length > MAX_SQL) {
    throw new AkinError('bad-request', 'The query is too complex: it has too many clauses in nested groups.');
  }
  return sql;
}
