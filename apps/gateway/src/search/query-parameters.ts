import type { Endpoints, ParametersOf } from '@akin/contract';
import { type ParameterLookup, parseQuery, type Query, readLocalValue, withErrorContext } from '@akin/domain';
import { parseSort, type SortClause } from '@akin/store/search';
import type { ParameterList } from '../parameters/parameters.ts';

type Parameters = ParametersOf<Endpoints['select']>;

/** Parameters that decide how a query is parsed. */
export type QueryOptions = Partial<Pick<Parameters, 'df' | 'q.op'>>;

/**
 * @param name the parameter, for messages
 * @throws AkinError bad-request that names the parameter, the character and what was expected
 */
export function readQuery(name: string, text: string, options: QueryOptions, parameter: ParameterLookup): Query {
  // Users of Flow write this for all documents.
  if (text.trim() === '*') return { kind: 'all' };
  return withErrorContext(name, () =>
    parseQuery(text, { parameter, defaultField: options.df, defaultOperator: options['q.op'] }),
  );
}

/** A query with what its local parameters say of it: `{!tag=a,b cache=false}…`. */
export interface LocalQuery {
  readonly query: Query;
  readonly tags: readonly string[];
  /** Its matches are not to be cached. */
  readonly isUncached: boolean;
}

/** @throws AkinError as `readQuery` */
export function readLocalQuery(
  name: string,
  text: string,
  options: QueryOptions,
  parameter: ParameterLookup,
): LocalQuery {
  const query = readQuery(name, text, options, parameter);
  const { local } = readLocalValue(text, parameter);
  return { query, tags: namesIn(local.get('tag')), isUncached: local.get('cache') === 'false' };
}

/**
 * The filters of a request. An empty one from a form means none.
 * @throws AkinError as `readQuery`
 */
export function readFilters(texts: readonly string[], options: QueryOptions, parameter: ParameterLookup): LocalQuery[] {
  return texts.filter((text) => text.trim() !== '').map((text) => readLocalQuery('fq', text, options, parameter));
}

/** The names in a list with commas. */
export function namesIn(text = ''): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** @throws AkinError bad-request */
export function readSort(text: string | undefined, parameter: ParameterLookup): SortClause[] {
  return text === undefined ? [] : withErrorContext('sort', () => parseSort(text, parameter));
}

/** What date math starts from, for the store. */
export function clockOf({ NOW, TZ }: Pick<Parameters, 'NOW' | 'TZ'>): { now?: Date; timeZone?: string } {
  return { ...(NOW !== undefined && { now: new Date(NOW) }), ...(TZ !== undefined && { timeZone: TZ }) };
}

/** Looks up the first value of a parameter, because queries may refer to parameters. */
export function parameterLookup(list: ParameterList): ParameterLookup {
  const first = new Map<string, string>();
  for (const [name, value] of list) if (!first.has(name)) first.set(name, value);
  return (name) => first.get(name);
}
