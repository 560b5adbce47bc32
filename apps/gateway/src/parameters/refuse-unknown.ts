import type { Endpoint } from '@akin/contract';
import { COMMON_PARAMETERS } from '@akin/contract';
import { type AkinError, badRequest, quote } from '@akin/domain';
import type { z } from 'zod';
import type { ParameterList } from './parameters.ts';
import { repeats } from './read-parameters.ts';

/** Solr's clients add them to every request. */
const OF_CLIENTS: readonly string[] = ['_', 'version'];

/**
 * Whether an endpoint only creates, limits or changes something. A client would believe that an ignored member is in
 * force, so it is refused; searches and updates ignore what they do not know.
 */
export function isStrict({ methods, streamsBody }: Endpoint): boolean {
  return !methods.includes('GET') && streamsBody !== true;
}

/** Two programs may read different ones, so none of them counts. */
function refuseTwice({ parameters }: Endpoint, list: ParameterList): void {
  const seen = new Set<string>();
  for (const [name] of list) {
    const type = parameters.shape[name] as z.ZodType | undefined;
    if (type === undefined || repeats(type)) continue;
    if (seen.has(name)) throw twiceError(name);
    seen.add(name);
  }
}

export function twiceError(name: string): AkinError {
  return badRequest(`${quote(name)} is given twice, and nothing was changed: give it once.`);
}

/**
 * @param inPath names of the parameters in the path, which nothing else may set
 * @throws AkinError bad-request for a name that a strict endpoint does not know, in a message that lists the known ones, or
 * for a single value that is given twice
 */
export function refuseUnknown(endpoint: Endpoint, list: ParameterList, inPath: readonly string[]): void {
  if (!isStrict(endpoint)) return;
  const known = Object.keys(endpoint.parameters.shape).filter((name) => !inPath.includes(name));
  const understood = new Set([...known, ...(endpoint.jsonParameters ?? []), ...OF_CLIENTS]);
  const unknown = list.find(([name]) => !understood.has(name))?.[0];
  if (unknown === undefined) {
    refuseTwice(endpoint, list);
    return;
  }
  const own = known.filter((name) => !Object.hasOwn(COMMON_PARAMETERS, name));
  const others = own.length === 0 ? 'this request takes none' : `use ${own.join(', ')}`;
  throw badRequest(`${quote(unknown)} is unknown here, and nothing was changed: ${others}.`);
}
