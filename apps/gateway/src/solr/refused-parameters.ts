import { badRequest } from '@akin/domain';
import type { ParameterList } from '../parameters/parameters.ts';

/** Values that turn a parameter off: safe to ignore. */
export const OFF = /^(false|0|off|no|)$/i;

/** Solr's parameters that would change a response and are not supported, with their values that have no effect. */
const UNSUPPORTED: Readonly<Record<string, RegExp>> = {
  defType: /^(lucene|)$/,
  json: /^$/,
  // The handler: any of those that search like /select.
  qt: /^(\/?(select|query|search|standard|lucene)\/?|)$/i,
  group: OFF,
  expand: OFF,
  hl: OFF,
  mlt: OFF,
  spellcheck: OFF,
  suggest: OFF,
  tv: OFF,
  clustering: OFF,
  rq: /^$/,
  'terms.lower': /^$/,
  'terms.upper': /^$/,
  'terms.regex': /^$/,
  'terms.list': /^$/,
  'terms.mincount': /^[01]?$/,
  'terms.maxcount': /^(-1)?$/,
  'stream.body': /^$/,
  'stream.url': /^$/,
  'stream.file': /^$/,
};

const UNSUPPORTED_BY_NAME = new Map(Object.entries(UNSUPPORTED));

/** Kinds of Solr facets that are not supported. The other facet parameters only say how to count. */
const UNSUPPORTED_FACETS = [
  'facet.pivot',
  'facet.interval',
  'facet.heatmap',
  'facet.date',
  'facet.matches',
  'facet.exists',
];

/** @param name without `f.<field>.` */
export function isUnsupportedFacet(name: string): boolean {
  return UNSUPPORTED_FACETS.some((kind) => name === kind || name.startsWith(`${kind}.`));
}

/** @throws AkinError bad-request that names a parameter of a kind of facet that is not supported */
export function refuseUnsupportedFacets(list: ParameterList): void {
  for (const [name, value] of list) {
    const plain = /^f\..+\.(facet\..+)$/s.exec(name)?.[1] ?? name;
    if (!isUnsupportedFacet(plain) || value === '' || value === 'false') continue;
    throw badRequest(`Parameter ${name.slice(0, 160)} is not supported, and would change the response. Remove it.`);
  }
}

/**
 * Refuses parameters of Solr that would change the response. Other unknown parameters are ignored, but with these a
 * client would get wrong results and believe them.
 *
 * @param options.allowed names among these, or similar ones, that the endpoint knows
 * @param options.more such parameters of the endpoint alone, with the values that have no effect
 * @throws AkinError bad-request naming the parameter
 */
export function refuseUnsupported(
  list: ParameterList,
  {
    allowed = [],
    more,
  }: { readonly allowed?: readonly string[]; readonly more?: Readonly<Record<string, RegExp>> } = {},
): void {
  const unsupported = more ? new Map([...UNSUPPORTED_BY_NAME, ...Object.entries(more)]) : UNSUPPORTED_BY_NAME;
  for (const [name, value] of list) {
    if (allowed.includes(name)) continue;
    const harmless = unsupported.get(name);
    const json = name.startsWith('json.') && name !== 'json.nl';
    if (json || (harmless && !harmless.test(value))) {
      throw badRequest(`Parameter ${name} is not supported, and would change the response. Remove it.`);
    }
  }
}
