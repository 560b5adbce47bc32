import { Double, type FieldValue, formatDate, stringifyJson } from '@akin/domain';
import type { FacetResult, ValueCount } from '@akin/store';
import type { NamedFacet } from './facets.ts';
import { presentValue } from './present.ts';

/** How to write lists of names and numbers in JSON: Solr's `json.nl`. */
export type NamedListStyle = 'flat' | 'map' | 'arrarr' | 'arrmap' | 'arrntv';

/** The member `facet_counts` of a response: the same members as Solr's, in its order. */
export function presentFacets(
  facets: readonly NamedFacet[],
  results: readonly FacetResult[],
  style: NamedListStyle,
): Record<string, unknown> {
  const queries = new Map<string, unknown>();
  const fields = new Map<string, unknown>();
  const ranges = new Map<string, unknown>();
  for (const [i, { key }] of facets.entries()) {
    const result = results[i];
    if (result?.kind === 'query') queries.set(key, result.count);
    if (result?.kind === 'field') {
      const missing: [null, number][] = result.missing === undefined ? [] : [[null, result.missing]];
      fields.set(key, namedList([...result.counts.map(named), ...missing], style));
    }
    if (result?.kind === 'range') {
      const { kind: _, counts, gap, start, end, ...others } = result;
      const list = namedList(counts.map(named), style);
      ranges.set(key, {
        counts: list,
        gap: presentValue(gap),
        ...others,
        start: presentValue(start),
        end: presentValue(end),
      });
    }
  }
  return {
    facet_queries: queries,
    facet_fields: fields,
    facet_ranges: ranges,
    facet_intervals: {},
    facet_heatmaps: {},
  };
}

export function facetWarnings(facets: readonly NamedFacet[], results: readonly FacetResult[]): string[] {
  return facets.flatMap(({ key }, i) => {
    const result = results[i];
    if (result?.kind !== 'field' || result.withoutZeros === undefined) return [];
    return [
      `facet.mincount is 1 for ${JSON.stringify(key)}: values of numbers and dates are listed only if they occur`,
    ];
  });
}

export function named({ value, count }: ValueCount): [string, number] {
  return [nameOf(value), count];
}

/** Values are names here, and so they are texts, as in Solr, even of numbers. */
export function nameOf(value: FieldValue): string {
  if (value instanceof Date) return formatDate(value);
  return typeof value === 'number' ? stringifyJson(new Double(value)) : String(value);
}

export function namedList(entries: readonly (readonly [string | null, number])[], style: NamedListStyle): unknown {
  switch (style) {
    case 'map':
      return new Map(entries.map(([name, count]) => [name ?? '', count]));
    case 'arrarr':
      return entries;
    case 'arrmap':
      return entries.map(([name, count]) => (name === null ? count : new Map([[name, count]])));
    case 'arrntv':
      return entries.map(([name, value]) => ({ name, type: 'int', value }));
    case 'flat':
      return entries.flat();
  }
}
