import type { ParameterLookup } from './geodist.ts';
import { QueryScanner, queryError } from './query-scanner.ts';
import { unstorableReason } from './text.ts';

/** The value of a parameter and its local parameters `{!key=value …}`. */
export interface LocalValue {
  /** The name at the beginning: `collapse` of `{!collapse field=product}`. */
  readonly type?: string | undefined;
  readonly local: ReadonlyMap<string, string>;
  /** The text after the local parameters, or their `v=`. */
  readonly value: string;
}

/**
 * Separates local parameters from a value that is not a query, such as the name of a facet field, or reads those in
 * front of a query (`tag`, `ex`, `key`).
 *
 * @throws AkinError bad-request when they cannot be parsed
 */
export function readLocalValue(text: string, parameter: ParameterLookup): LocalValue {
  if (!text.startsWith('{!')) return { local: new Map(), value: text };
  const scanner = new QueryScanner(text, (name) => {
    const value = parameter(name);
    const problem = value === undefined ? null : unstorableReason(value);
    if (problem !== null) throw queryError(text, 0, `the parameter ${name} contains ${problem}`);
    return value;
  });
  const { type, params } = scanner.localParams();
  return { type, local: params, value: params.get('v') ?? text.slice(scanner.position) };
}
