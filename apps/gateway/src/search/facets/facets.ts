import type { FacetResult } from '@akin/store/search';
import type { ParameterList } from '../../parameters/parameters.ts';
import { refuseUnsupportedFacets } from '../../solr/refused-parameters.ts';
import { parameterLookup, type QueryOptions } from '../query-parameters.ts';
import type { FacetKind, NamedFacet, TaggedQueries } from './facet-kind.ts';
import { FIELD_FACET } from './field-facet.ts';
import type { NamedListStyle } from './named-list.ts';
import { QUERY_FACET } from './query-facet.ts';
import { RANGE_FACET } from './range-facet.ts';

/** The kinds that are counted, in the order of a response. */
const KINDS = { query: QUERY_FACET, field: FIELD_FACET, range: RANGE_FACET };

/** The parameters that ask for a facet. */
export const FACET_PARAMETERS: readonly string[] = Object.values(KINDS).map(({ parameter }) => parameter);

/**
 * The facets of a request, in Solr's parameters: `facet.field`, `facet.query` and `facet.range`, each several times and
 * with local parameters (`ex`, `key`, `terms`, or any setting), and settings for all fields or one
 * (`f.<field>.facet.limit`).
 *
 * @throws AkinError bad-request that names the parameter
 */
export function readFacets(list: ParameterList, tagged: TaggedQueries, options: QueryOptions): NamedFacet[] {
  refuseUnsupportedFacets(list);
  const asked = { list, tagged, options, parameter: parameterLookup(list) };
  return list.flatMap(([name, text]): NamedFacet[] => {
    const kind = Object.values(KINDS).find(({ parameter }) => parameter === name);
    return kind === undefined || text === '' ? [] : [kind.read(text, asked)];
  });
}

/** The member `facet_counts` of a response: the same members as Solr's, in its order. */
export function presentFacets(
  facets: readonly NamedFacet[],
  results: readonly FacetResult[],
  style: NamedListStyle,
): Record<string, unknown> {
  const sections = Object.entries(KINDS).map(([name, kind]) => {
    const own = facets.flatMap(({ key }, i): [string, unknown][] => {
      const result = results[i];
      return result?.kind === name ? [[key, (kind as FacetKind<typeof result.kind>).present(result, style)]] : [];
    });
    return [kind.section, new Map(own)];
  });
  return { ...Object.fromEntries(sections), facet_intervals: {}, facet_heatmaps: {} };
}

export function facetWarnings(facets: readonly NamedFacet[], results: readonly FacetResult[]): string[] {
  return facets.flatMap(({ key }, i) => {
    const result = results[i];
    return Object.entries(KINDS).flatMap(([name, kind]) =>
      result?.kind === name ? ((kind as FacetKind<typeof result.kind>).warning?.(key, result) ?? []) : [],
    );
  });
}
