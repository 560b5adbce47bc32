import type { Endpoint } from '@akin/contract';
import { badRequest, quote } from '@akin/domain';
import { isOldName } from '../solr/legacy-parameters.ts';
import type { ParameterList } from './parameters.ts';
import { repeats } from './read-parameters.ts';
import { hasNoEffect, referencedNames } from './unknown-parameters.ts';

/** `fq[]`, `fq[0]`, `fq[a]`, `fq.0`: how HTTP clients and PHP write arrays. */
const ARRAY = /^([^[\]]+?)(?:(?:\[[^[\]]*\])+|\.\d+)$/;
const PER_FIELD = /^f\..*\.(facet\..+)$/s;

/**
 * The parameters with the names that the endpoint knows, where a client wrote a repeatable parameter as an array or in
 * other cases: a filter that is left out in silence would show too much.
 *
 * @throws AkinError bad-request for a parameter with one value that was written as an array
 */
export function resolveNames(endpoint: Endpoint, list: ParameterList): ParameterList {
  const { shape } = endpoint.parameters;
  if (list.every(([name]) => Object.hasOwn(shape, name))) return list;
  const repeatable = new Map(
    Object.entries(shape).flatMap(([name, type]) => (repeats(type) ? [[name.toLowerCase(), name]] : [])),
  );
  const references = referencedNames(list);
  return list.flatMap(([sent, value]): [string, string][] => {
    if (Object.hasOwn(shape, sent)) return [[sent, value]];
    const name = ARRAY.exec(sent)?.[1] ?? sent;
    // Endpoints without filters refuse them by this name.
    const known = name.toLowerCase() === 'fq' ? 'fq' : repeatable.get(name.toLowerCase());
    // A `$name` in the words of a user must not switch a filter off, so it counts as both.
    if (known !== undefined)
      return references.has(sent)
        ? [
            [sent, value],
            [known, value],
          ]
        : [[known, value]];
    if (references.has(sent)) return [[sent, value]];
    const single = PER_FIELD.exec(name)?.[1] ?? name;
    if (name !== sent && Object.hasOwn(shape, single) && !repeatable.has(single)) {
      throw badRequest(`Parameter ${quote(sent)} takes one value: send it as ${name}=….`);
    }
    const isKnown = name !== single || hasNoEffect(name) || isOldName(name);
    return [[isKnown ? name : sent, value]];
  });
}
