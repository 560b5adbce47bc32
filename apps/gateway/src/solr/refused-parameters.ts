import { AkinError } from '@akin/domain';
import type { ParameterList } from '../http/parameters.ts';

/** Values that say "not this": harmless to ignore. */
export const OFF = /^(false|0|off|no|)$/i;

/** Solr's parameters that would change an answer here and are not built, with the values that do nothing. */
const UNSUPPORTED: Readonly<Record<string, RegExp>> = {
  defType: /^(lucene|)$/,
  json: /^$/,
  // The handler to ask: any of those that search as /select does.
  qt: /^(\/?(select|query|search|standard|lucene)\/?|)$/i,
  group: OFF,
  stats: OFF,
  hl: OFF,
  mlt: OFF,
  expand: OFF,
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

/**
 * An unknown parameter is ignored, but one of Solr's that would have made the answer another one is not: the client
 * would take the wrong answer for the right one.
 *
 * @param options.allowed names that look so but are known to the endpoint
 * @param options.more such parameters of the endpoint alone, with the values that do nothing
 * @throws AkinError bad-request naming the parameter
 */
export function refuseUnsupported(
  list: ParameterList,
  {
    allowed = [],
    more = {},
  }: { readonly allowed?: readonly string[]; readonly more?: Readonly<Record<string, RegExp>> } = {},
): void {
  const unsupported = new Map(Object.entries({ ...UNSUPPORTED, ...more }));
  for (const [name, value] of list) {
    const harmless = unsupported.get(name);
    const json = name.startsWith('json.') && name !== 'json.nl' && !allowed.includes(name);
    if (json || (harmless && !harmless.test(value))) {
      throw new AkinError(
        'bad-request',
        `Parameter ${name} is not supported, and would change the answer: leave it out.`,
      );
    }
  }
}
