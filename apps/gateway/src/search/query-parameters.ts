import { type ParameterLookup, parseQuery, type Query, withErrorContext } from '@akin/domain';
import { parseSort, type SortClause } from '@akin/store';
import type { ParameterList } from '../http/parameters.ts';

/** Parameters that decide how a query is parsed. */
export interface QueryOptions {
  readonly df?: string | undefined;
  readonly 'q.op'?: 'AND' | 'OR' | undefined;
}

/**
 * @param name the parameter, for messages
 * @throws AkinError bad-request that names the parameter, the character and what was expected
 */
export function readQuery(name: string, text: string, options: QueryOptions, parameter: ParameterLookup): Query {
  // Users of Flow write this for all documents.
  if (text.trim() === '*') return { kind: 'all' };
  return withErrorContext(name, () =>
    parseQuery(text, {
      parameter,
      ...(options.df === undefined ? {} : { defaultField: options.df }),
      ...(options['q.op'] === undefined ? {} : { defaultOperator: options['q.op'] }),
    }),
  );
}

/**
 * The filters of a request, with their texts. An empty one from a form means none.
 * @throws AkinError bad-request that names the character and what was expected
 */
export function readFilters(
  texts: readonly string[],
  options: QueryOptions,
  parameter: ParameterLookup,
): { readonly text: string; readonly query: Query }[] {
  return texts
    .filter((text) => text.trim() !== '')
    .map((text) => ({ text, query: readQuery('fq', text, options, parameter) }));
}

/** @throws AkinError bad-request */
export function readSort(text: string | undefined, parameter: ParameterLookup): SortClause[] {
  return text === undefined ? [] : withErrorContext('sort', () => parseSort(text, parameter));
}

/** Looks up the first value of a parameter, because queries may refer to parameters. */
export function parameterLookup(list: ParameterList): ParameterLookup {
  const first = new Map<string, string>();
  for (const [name, value] of list) if (!first.has(name)) first.set(name, value);
  return (name) => first.get(name);
}
