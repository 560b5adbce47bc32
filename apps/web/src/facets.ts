import { rankingEndpoint, type SearchEndpoint, type SearchParameters, type SearchResponse } from '@akin/client';
import { eachFieldOf } from './filters/each-filter.ts';
import { escapeName, FILE_FIELD, unescaped } from './filters/names.ts';
import { dateOrder, periodFacet } from './filters/periods.ts';
import { readPlace } from './filters/places.ts';
import { isRangeOf, type RangeField, rangeFacet, readBounds, tagRange } from './filters/ranges.ts';
import { day, number } from './format.ts';
import { TEXTS } from './texts.ts';
import { rankParameters, thresholdOf, type ViewState } from './view-state.ts';

export interface FacetField {
  readonly name: string;
  /**
   * Whether a document may have several values. Then all chosen values must be present; in a single-valued field any of
   * them is enough.
   */
  readonly multiValued: boolean;
}

/** The values of a field among the results, most frequent first. */
export interface Facet extends FacetField {
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

export interface SchemaField {
  readonly name: string;
  readonly type: string;
  readonly multiValued: boolean;
  readonly origin: string;
}

/** More fields would not fit into the side bar, and each costs a count. */
const MAX_FIELDS = 8;
export const VALUES = 12;
const MORE_VALUES = 100;
/**
 * Fields whose values are almost unique are names, not categories: values must occur twice, and together in this share
 * of the results.
 */
const MIN_SHARE = 0.1;
/** Fields from the analysis that are listed before and after the fields of the documents. */
const FIRST = ['labels', 'color_names'];
/** Whether the file of a document is gone. */
const MISSING = 'missing';
const LAST = ['copyspace', 'color_isolated'];

/** The fields of a collection that can be filters: Strings and Booleans. */
export function facetFieldsOf(fields: readonly SchemaField[]): FacetField[] {
  const named = (names: readonly string[]) => names.flatMap((name) => fields.filter((field) => field.name === name));
  const others = fields
    .filter(
      ({ name, origin, type }) =>
        origin === 'document' && (type === 'string' || type === 'boolean') && !FILE_FIELD.test(name),
    )
    .sort((one, other) => Number(other.name === MISSING) - Number(one.name === MISSING));
  return [...named(FIRST), ...others.slice(0, MAX_FIELDS), ...named(LAST)].map(({ name, multiValued }) => ({
    name,
    multiValued,
  }));
}

export function filterOf(field: string, value: string): string {
  return `${escapeName(field)}:"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** A filter as users read it; a filter that the page did not create is shown unchanged. */
export function filterText(filter: string): string {
  const each = eachFieldOf(filter);
  if (each !== undefined) return TEXTS.each.each(fieldTitle(each));
  const place = readPlace(filter);
  if (place) return TEXTS.filters.near(number(place.kilometers), place.point.replace(',', ', '));
  const bounds = readBounds(filter);
  if (bounds) return `${fieldTitle(bounds.name)}: ${boundsText(bounds.from, bounds.to)}`;
  const [, field = '', value = ''] = /^((?:[^\\:]|\\.)+):"((?:[^"\\]|\\.)*)"$/s.exec(filter) ?? [];
  return field === '' ? filter : `${fieldTitle(unescaped(field))}: ${shownText(unescaped(field), unescaped(value))}`;
}

export function fieldTitle(field: string): string {
  const own = Object.hasOwn(TEXTS.fields, field) ? TEXTS.fields[field] : undefined;
  const title = own ?? field.replaceAll('_', ' ');
  return title.charAt(0).toLocaleUpperCase() + title.slice(1);
}

export function valueText(value: string, isBoolean = value === 'true' || value === 'false'): string {
  if (isBoolean) return value === 'true' ? TEXTS.values.yes : TEXTS.values.no;
  return value === '' ? TEXTS.values.empty : value;
}

function boundsText(from: string, to: string): string {
  if (from === '*') return TEXTS.filters.upTo(boundText(to));
  return to === '*' ? TEXTS.filters.from(boundText(from)) : TEXTS.filters.between(boundText(from), boundText(to));
}

function boundText(text: string): string {
  if (/^\d{4}-\d\d-\d\d/.test(text)) return day(text);
  return Number.isFinite(Number(text)) ? number(Number(text)) : text;
}

function shownText(field: string, value: string): string {
  return field === 'copyspace' ? (TEXTS.parts[Number(value)] ?? value) : valueText(value);
}

/** Filters for the request: those of the same single-valued field are combined with OR. */
export function joinFilters(filters: readonly string[], fields: readonly FacetField[]): string[] {
  const { plain, joined } = groupFilters(filters, fields);
  return [...plain, ...joined.values()];
}

/**
 * The request that counts the results of a state by the values of each field. A single-valued field is counted without
 * its own filter, so that other values can be chosen too.
 *
 * @param ranges fields with a histogram
 * @param wanted fields for which the user wants more values, each with the text that they contain
 */
export function facetCountRequest(
  state: ViewState,
  fields: readonly FacetField[],
  ranges: readonly RangeField[] = [],
  wanted: ReadonlyMap<string, string> = new Map(),
): { endpoint: SearchEndpoint; parameters: SearchParameters } {
  const { plain, joined } = groupFilters(state.filters, fields);
  const tagged = plain.map((filter) => {
    const i = ranges.findIndex((range) => isRangeOf(filter, range));
    return i < 0 ? filter : tagRange(filter, i);
  });
  const fq = [...tagged, ...[...joined].map(([i, filter]) => `{!tag=f${i}}${filter}`)];
  const order = dateOrder(state.sort, ranges);
  const rangeFacets = ranges.map((range, i) => {
    const isChosen = plain.some((filter) => isRangeOf(filter, range));
    const own = rangeFacet(range, i, isChosen);
    return order?.field === range ? [own, periodFacet(range, i, isChosen)] : [own];
  });
  const parameters: SearchParameters = {
    rows: 0,
    facet: true,
    'facet.limit': VALUES,
    'facet.mincount': 1,
    'facet.field': fields.map(
      ({ name }, i) =>
        `{!key=f${i}${joined.has(i) ? ` ex=f${i}` : ''}${facetSearchParameters(wanted.get(name))}}${name.replaceAll('\\', '\\\\')}`,
    ),
    'facet.range': rangeFacets.flat(),
  };
  if (state.words) parameters.q = state.words;
  const { query } = state;
  const mode = query?.by === 'hex' ? 'color' : state.mode;
  const { endpoint, preset } = rankingEndpoint(mode);
  const threshold = thresholdOf(state);
  // The endpoint for copies has its own default threshold.
  if (query && (threshold !== undefined || mode === 'duplicate')) {
    const least = threshold === undefined ? {} : { 'rank.threshold': threshold };
    return {
      endpoint,
      parameters: { ...preset, ...parameters, fq, ...rankParameters(query, state), ...least },
    };
  }
  // A ranking without a threshold excludes only documents without a picture.
  if (query) fq.push(`${mode}_descriptor:*`);
  return { endpoint: 'select', parameters: { ...parameters, fq } };
}

function facetSearchParameters(contains: string | undefined): string {
  if (contains === undefined) return '';
  const text = contains.trim().replace(/['\\]/g, '\\$&');
  return ` facet.limit=${MORE_VALUES}${text === '' ? '' : ` facet.contains='${text}' facet.contains.ignoreCase=true`}`;
}

/** The facets worth showing: fields that divide the results, and those with a filter or a search for values. */
export function facetsOf(
  body: SearchResponse,
  fields: readonly FacetField[],
  filters: readonly string[],
  wanted: ReadonlyMap<string, string> = new Map(),
): Facet[] {
  const { numFound } = body.response;
  return fields.flatMap((field, i): Facet[] => {
    const flat = body.facet_counts?.facet_fields[`f${i}`] ?? [];
    const values = flat.flatMap((value, at) =>
      at % 2 === 0 && value !== null ? [{ value: String(value), count: Number(flat[at + 1]) }] : [],
    );
    const chosen = wanted.has(field.name) || filters.some((filter) => isOf(filter, field));
    const shown = values.reduce((sum, { count }) => sum + count, 0);
    const divides = values.length > 1 || (values[0]?.count ?? numFound) < numFound;
    const repeats = (values[0]?.count ?? 0) > 1 && shown >= numFound * MIN_SHARE;
    // Labels are albums, and missing files a problem, however few documents have one.
    const isAlways = (field.name === 'labels' || field.name === MISSING) && values.length > 0;
    return chosen || isAlways || (divides && repeats) ? [{ ...field, values }] : [];
  });
}

/** Filters of single-valued fields, combined, by the index of the field; and all others. */
function groupFilters(filters: readonly string[], fields: readonly FacetField[]) {
  const joined = new Map<number, string>();
  for (const [i, field] of fields.entries()) {
    const own = field.multiValued ? [] : filters.filter((filter) => isOf(filter, field));
    const name = `${escapeName(field.name)}:`;
    if (own.length === 1) joined.set(i, own[0] as string);
    if (own.length > 1) joined.set(i, `${name}(${own.map((filter) => filter.slice(name.length)).join(' OR ')})`);
  }
  const plain = filters.filter((filter) => !fields.some((field) => !field.multiValued && isOf(filter, field)));
  return { plain, joined };
}

function isOf(filter: string, { name }: FacetField): boolean {
  return filter.startsWith(`${escapeName(name)}:"`);
}
