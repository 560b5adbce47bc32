import type { Query, QueryOperator } from './query.ts';
import type { QueryBudget } from './query-budget.ts';
import type { LocalParams, QueryScanner } from './query-scanner.ts';

export interface ParseQueryOptions {
  /** The field of words that name none; `text` by default. */
  readonly defaultField?: string | undefined;
  /** What joins clauses without an operator; `OR` by default. */
  readonly defaultOperator?: QueryOperator | undefined;
}

/** `{!type key=value …}rest` where it stands in a query. */
interface LocalQuery extends LocalParams {
  readonly scanner: QueryScanner;
  readonly position: number;
  /** The text behind the parameters, when they do not give the value as `v=`. */
  readonly rest: string;
  /** The field of the group that it stands in. */
  readonly groupField?: string | undefined;
  readonly options: ParseQueryOptions;
  readonly budget: QueryBudget;
  /** Reads a text as a query of the standard language. */
  readonly parse: (text: string, options: ParseQueryOptions, budget: QueryBudget) => Query;
}

/** The query that local parameters mean. A further type is a further case. */
export function readLocal(local: LocalQuery): Query {
  const { scanner, position, type, params, groupField, options, budget } = local;
  if (params.has('v') && local.rest.trim() !== '') {
    throw scanner.error(scanner.position, 'expected nothing behind local parameters that give the value as v=');
  }
  const value = params.get('v') ?? local.rest;
  const operator = localOperator(scanner, position, params) ?? options.defaultOperator;
  const fieldOfClause = (): string => {
    const name = params.get('f') ?? groupField;
    if (name === undefined || name === '') throw scanner.error(position, `expected f=<field> in {!${type}}`);
    budget.countClause(scanner.text, position);
    return name;
  };
  switch (type) {
    case undefined:
    case 'lucene': {
      const defaultField = params.get('df') ?? groupField ?? options.defaultField;
      const inner = { defaultField, defaultOperator: operator };
      return budget.inside(scanner.text, position, () => local.parse(value, inner, budget));
    }
    case 'words':
      return { kind: 'words', field: fieldOfClause(), value, operator: operator ?? 'AND', position };
    case 'term':
      return { kind: 'term', field: fieldOfClause(), value, operator: 'AND', position };
    case 'field':
      return { kind: 'phrase', field: fieldOfClause(), value, slop: 0, position };
    case 'prefix':
      return { kind: 'prefix', field: fieldOfClause(), value, position };
    case 'terms': {
      const separator = params.get('separator') ?? ',';
      const values = value.split(separator === ' ' ? /\s+/ : separator).map((one) => one.trim());
      const should = values
        .filter((one) => one !== '')
        .map((one): Query => ({ kind: 'term', field: fieldOfClause(), value: one, operator: 'AND', position }));
      return { kind: 'constant', query: { kind: 'bool', must: [], should, mustNot: [] }, score: 1 };
    }
    default:
      throw scanner.error(
        position,
        `{!${type}} is not understood; known are lucene, words, term, terms, field and prefix`,
      );
  }
}

function localOperator(
  scanner: QueryScanner,
  position: number,
  params: ReadonlyMap<string, string>,
): QueryOperator | undefined {
  const operator = params.get('q.op')?.toUpperCase();
  if (operator === undefined || operator === 'AND' || operator === 'OR') return operator;
  throw scanner.error(position, `expected q.op=AND or q.op=OR, found ${JSON.stringify(operator)}`);
}
