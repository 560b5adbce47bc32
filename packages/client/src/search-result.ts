import type { Plain } from './json.ts';
import type { DocumentList, FacetCounts, SearchResponse, Stats } from './types.ts';

export interface SearchResult<Document> {
  readonly documents: Document[];
  /** Number of all documents that match. */
  readonly total: number;
  /** False if `total` is only a lower bound. */
  readonly totalIsExact: boolean;
  /** With `group`: the groups, best first. `documents` has the documents of all of them. */
  readonly groups: readonly DocumentGroup<Document>[];
  /** For each field in `facets`: its values, most frequent first. */
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>;
  /** With `facet: true` and `facet.query` or `facet.range` in `wire`: the counts, by the keys of the facets. */
  readonly facetQueries?: FacetCounts['facet_queries'];
  readonly facetRanges?: FacetCounts['facet_ranges'];
  /** With `stats: true` in `wire`: the figures of each `stats.field`. */
  readonly stats?: Readonly<Record<string, Stats>>;
  /** With `collapse`, and `expand: true` in `wire`: for each value of the field, the other documents. */
  readonly expanded?: Readonly<Record<string, Omit<DocumentGroup<Document>, 'value'>>>;
  readonly warnings: readonly string[];
}

/** Documents with the same value of a field. */
export interface DocumentGroup<Document> {
  /** Null for documents without a value. */
  readonly value: Plain;
  /** Number of all matching documents of the group. */
  readonly total: number;
  readonly documents: Document[];
}

export interface FacetValue {
  readonly value: string;
  readonly count: number;
}

export function toSearchResult<Document>(found: SearchResponse): SearchResult<Document> {
  const { response, grouped, expanded, responseHeader, facet_counts, stats } = found;
  const documentsOf = ({ numFound, docs }: DocumentList) => ({
    total: numFound,
    documents: docs as unknown as Document[],
  });
  const { facet_fields = {}, facet_queries = {}, facet_ranges = {} } = facet_counts ?? {};
  const [byField] = Object.values(grouped ?? {});
  const groups = (byField?.groups ?? []).map(({ groupValue, doclist }) => ({
    value: groupValue,
    ...documentsOf(doclist),
  }));
  return {
    documents: byField ? groups.flatMap(({ documents }) => documents) : documentsOf(response).documents,
    total: byField?.ngroups ?? response.numFound,
    totalIsExact: byField !== undefined || response.numFoundExact,
    groups,
    facets: Object.fromEntries(Object.entries(facet_fields).map(([name, flat]) => [name, toFacetValues(flat)])),
    ...(Object.keys(facet_queries).length === 0 ? {} : { facetQueries: facet_queries }),
    ...(Object.keys(facet_ranges).length === 0 ? {} : { facetRanges: facet_ranges }),
    ...(stats === undefined ? {} : { stats: stats.stats_fields }),
    ...(expanded === undefined
      ? {}
      : { expanded: Object.fromEntries(Object.entries(expanded).map(([value, list]) => [value, documentsOf(list)])) }),
    warnings: responseHeader?.warnings ?? [],
  };
}

/** @param flat value, count, value, count … */
export function toFacetValues(flat: readonly (string | number | null)[]): FacetValue[] {
  const values: FacetValue[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    values.push({ value: String(flat[at] ?? ''), count: Number(flat[at + 1]) });
  }
  return values;
}
