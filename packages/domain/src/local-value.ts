import type { ParameterLookup } from './geodist.ts';
import { QueryScanner, queryError } from './query-scanner.ts';
import { unstorable } from './text.ts';

/** The value of a parameter with what stands before it as `{!key=value …}`. */
export interface LocalValue {
  readonly local: ReadonlyMap<string, string>;
  /** What is after the local parameters, or what they give as `v=`. */
  readonly value: string;
}

/**
 * Takes local parameters off a value that is no query, such as the name of a field to count by, or looks at those that
 * stand before a query (`tag`, `ex`, `key`).
 *
 * @throws AkinError bad-request when they cannot be read
 */
export function readLocalValue(text: string, parameter: ParameterLookup): LocalValue {
  if (!text.startsWith('{!')) return { local: new Map(), value: text };
  const scanner = new QueryScanner(text, (name) => {
    const value = parameter(name);
    const problem = value === undefined ? null : unstorable(value);
    if (problem !== null) throw queryError(text, 0, `the parameter ${name} holds ${problem}`);
    return value;
  });
  const { params } = scanner.localParams();
  return { local: params, value: params.get('v') ?? text.slice(scanner.position) };
}
