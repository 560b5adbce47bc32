import {
  badRequest,
  type FieldValue,
  type ParameterLookup,
  readLocalValue,
  unescapeBackslashes,
  withErrorContext,
} from '@akin/domain';
import type { FacetResult } from '@akin/store/search';
import type { ParameterList } from '../../parameters/parameters.ts';
import { OFF } from '../../solr/refused-parameters.ts';
import { presentValue } from '../present.ts';
import { excludedBy, type NamedFacet, type TaggedQueries } from './facet-kind.ts';

/** The figures, in the order of a response. */
const FIGURES = ['min', 'max', 'count', 'missing', 'sum', 'mean', 'stddev'] as const;

const UNSUPPORTED = ['sumOfSquares', 'percentiles', 'distinctValues', 'countDistinct', 'cardinality', 'func'];

/** Figures of a field, with their name in the response. */
export interface NamedStats extends NamedFacet {
  readonly figures: readonly (typeof FIGURES)[number][];
}

/**
 * Reads `stats.field`, with the local parameters `ex`, `key` and the names of figures: `{!ex=tag min=true max=true}price`.
 *
 * @throws AkinError bad-request that names the parameter
 */
export function readStats(list: ParameterList, tagged: TaggedQueries, parameter: ParameterLookup): NamedStats[] {
  for (const [name, value] of list) {
    if (!/^(f\..+\.)?stats\.(facet|calcdistinct)$/s.test(name) || OFF.test(value)) continue;
    throw badRequest(`Parameter ${name.slice(0, 160)} is not supported. Remove it.`);
  }
  const fields = list.filter(([name, text]) => name === 'stats.field' && text.trim() !== '');
  return fields.map(([, text]) => withErrorContext('stats.field', () => readOne(text, tagged, parameter)));
}

function readOne(text: string, tagged: TaggedQueries, parameter: ParameterLookup): NamedStats {
  const { local, value } = readLocalValue(text, parameter);
  const unsupported = UNSUPPORTED.find((name) => local.has(name) && !OFF.test(local.get(name) ?? ''));
  if (unsupported !== undefined || local.get('type') === 'func') {
    throw badRequest(`${unsupported ?? 'func'} is not computed: known are ${FIGURES.join(', ')} of a field.`);
  }
  const field = unescapeBackslashes(value.trim());
  const asked = FIGURES.filter((name) => local.has(name) && !OFF.test(local.get(name) ?? ''));
  return {
    key: local.get('key') ?? field,
    figures: asked.length === 0 ? FIGURES : asked,
    request: { kind: 'stats', field, excludedQueries: excludedBy(local, tagged) },
  };
}

/** The member `stats` of a response, as Solr's. Figures that do not exist are null: the least of no values. */
export function presentStats(stats: readonly NamedStats[], results: readonly FacetResult[]): Record<string, unknown> {
  const fields = stats.map(({ key, figures }, i): [string, Map<string, unknown>] => {
    const result = results[i];
    if (result?.kind !== 'stats') return [key, new Map()];
    const shown = figures.flatMap((name): [string, unknown][] =>
      name in result ? [[name, shownAs(name, result[name])]] : [],
    );
    return [key, new Map(shown)];
  });
  return { stats_fields: new Map(fields) };
}

function shownAs(name: (typeof FIGURES)[number], value: FieldValue | undefined): unknown {
  if (value === undefined) return null;
  return name === 'count' || name === 'missing' ? value : presentValue(value);
}
