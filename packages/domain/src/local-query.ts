import type { ParameterLookup } from './geodist.ts';
import { readCircle, readFunction, readFunctionRange } from './local-space.ts';
import type { Query, QueryOperator } from './query.ts';
import type { QueryBudget } from './query-budget.ts';
import type { LocalParams, QueryScanner, ScanStart } from './query-scanner.ts';

export interface ParseQueryOptions {
  /** The field of words without a field name. Default: `text`. */
  readonly defaultField?: string | undefined;
  /** Operator between clauses that have none. Default: `OR`. */
  readonly defaultOperator?: QueryOperator | undefined;
  /** The other parameters of the request: `$name` refers to one, and `pt`, `d` and `sfield` may be among them. */
  readonly parameter?: ParameterLookup | undefined;
}

/** `{!type key=value …}rest` inside a query. */
interface LocalQuery extends LocalParams {
  readonly scanner: QueryScanner;
  readonly position: number;
  /** Start and end of the text after the parameters. This text is the value if there is no `v=`. */
  readonly from: number;
  readonly end: number;
  /** The field of the surrounding group. */
  readonly groupField?: string | undefined;
  readonly options: ParseQueryOptions;
  readonly budget: QueryBudget;
  /** Parses a text in the standard query language. */
  readonly parse: (text: string, options: ParseQueryOptions, budget: QueryBudget, start: ScanStart) => Query;
}

/** Parses a query with local parameters. A further type needs a further case. */
export function readLocal(local: LocalQuery): Query {
  const { scanner, type, params, groupField, options, budget, from, end } = local;
  const rest = scanner.text.slice(from, end);
  if (params.has('v') && rest.trim() !== '') {
    throw scanner.error(from, 'expected nothing after local parameters that give the value as v=');
  }
  const value = params.get('v') ?? rest;
  const fail = (problem: string) => scanner.error(local.position, problem);
  const operator = localOperator(params, fail) ?? options.defaultOperator;
  const count = () => budget.countClause(scanner, local.position);
  const position = scanner.characterAt(local.position);
  const fieldOfClause = (): string => {
    const name = params.get('f') ?? groupField;
    if (name === undefined || name === '') throw fail(`expected f=<field> in {!${type}}`);
    count();
    return name;
  };
  const parameter = (name: string) => params.get(name) ?? options.parameter?.(name);
  const space = { local: params, parameter, position, fail };
  switch (type) {
    case undefined:
    case 'lucene': {
      const defaultField = params.get('df') ?? groupField ?? options.defaultField;
      const inner = { ...options, defaultField, defaultOperator: operator };
      count();
      return budget.nested(scanner, local.position, () => {
        if (params.has('v')) return local.parse(value, inner, budget, scanner.startInside(local.position));
        return local.parse(scanner.text.slice(0, end), inner, budget, scanner.startAt(from));
      });
    }
    case 'words':
      return { kind: 'words', field: fieldOfClause(), value, operator: operator ?? 'AND', position };
    case 'term':
    case 'raw':
      return { kind: 'term', field: fieldOfClause(), value, operator: 'AND', position };
    case 'field':
      return { kind: 'phrase', field: fieldOfClause(), value, slop: 0, position };
    case 'prefix':
      return { kind: 'prefix', field: fieldOfClause(), value, position };
    case 'terms': {
      const field = fieldOfClause();
      // One clause, however many values it has: the length of a query limits them.
      const values = new Set(splitTerms(value, params.get('separator') ?? ','));
      const should = [...values].map((one): Query => ({ kind: 'term', field, value: one, operator: 'AND', position }));
      if (should.length === 0) return { kind: 'none' };
      return { kind: 'constant', query: { kind: 'bool', must: [], should, mustNot: [] }, score: 1 };
    }
    case 'geofilt':
    case 'bbox':
      count();
      if (value.trim() !== '')
        throw fail(`expected nothing after {!${type} …}, found ${JSON.stringify(value.slice(0, 40))}`);
      return readCircle(type, space);
    case 'func':
      count();
      return readFunction(value, space);
    case 'frange':
      count();
      return readFunctionRange(value, space);
    default:
      throw fail(`{!${type}} is not understood; known are ${KNOWN}`);
  }
}

const KNOWN = 'lucene, words, term, terms, raw, field, prefix, geofilt, bbox, frange and func';

/**
 * Splits the values of `{!terms}`. Values are taken literally, but a blank as separator stands for any run of blanks.
 */
function splitTerms(value: string, separator: string): string[] {
  if (separator === ' ') return value.split(/\s+/).filter((one) => one !== '');
  return value === '' ? [] : value.split(separator === '' ? ',' : separator);
}

function localOperator(
  params: ReadonlyMap<string, string>,
  fail: (problem: string) => Error,
): QueryOperator | undefined {
  const operator = params.get('q.op')?.toUpperCase();
  if (operator === undefined || operator === 'AND' || operator === 'OR') return operator;
  throw fail(`expected q.op=AND or q.op=OR, found ${JSON.stringify(operator)}`);
}
