import { FACET_SETTINGS, type FacetSettings } from '@akin/contract';
import {
  AkinError,
  type ParameterLookup,
  type Query,
  readLocalValue,
  unescapeBackslashes,
  unstorableReason,
  withErrorContext,
} from '@akin/domain';
import type { FacetRequest } from '@akin/store';
import type { ParameterList } from '../http/parameters.ts';
import { refuseUnsupportedFacets } from '../solr/refused-parameters.ts';
import { parameterLookup, type QueryOptions, readQuery } from './query-parameters.ts';

/** A facet with its name in the response. */
export interface NamedFacet {
  readonly key: string;
  readonly request: FacetRequest;
  /** The matches of this query are not to be cached. */
  readonly isUncached?: boolean;
}

/** Queries by their tags, for facets that exclude them. */
export type TaggedQueries = readonly { readonly tags: readonly string[]; readonly query: Query }[];

/**
 * The facets of a request, in Solr's parameters: `facet.field`, `facet.query` and `facet.range`, each several times and
 * with local parameters (`ex`, `key`, `terms`, or any setting), and settings for all fields or one
 * (`f.<field>.facet.limit`).
 *
 * @throws AkinError bad-request that names the parameter
 */
export function readFacets(list: ParameterList, tagged: TaggedQueries, options: QueryOptions): NamedFacet[] {
  refuseUnsupportedFacets(list);
  const parameter = parameterLookup(list);
  return list.flatMap(([name, text]): NamedFacet[] => {
    if (text === '') return [];
    switch (name) {
      case 'facet.field':
        return [fieldFacet(text, list, tagged, parameter)];
      case 'facet.query':
        return [queryFacet(text, tagged, options, parameter)];
      case 'facet.range':
        return [rangeFacet(text, list, tagged, parameter)];
      default:
        return [];
    }
  });
}

/** The tags of a query: `{!tag=a,b}…`. */
export function tagsOf(name: string, text: string, parameter: ParameterLookup): string[] {
  return namesIn(withErrorContext(name, () => readLocalValue(text, parameter)).local.get('tag'));
}

/** Whether `{!cache=false}` asks not to cache a filter. */
export function isUncached(text: string, parameter: ParameterLookup): boolean {
  return withErrorContext('fq', () => readLocalValue(text, parameter)).local.get('cache') === 'false';
}

function fieldFacet(text: string, list: ParameterList, tagged: TaggedQueries, parameter: ParameterLookup): NamedFacet {
  const { local, value } = withErrorContext('facet.field', () => readLocalValue(text, parameter));
  const field = fieldName(value);
  const setting = settingsOf(field, local, list);
  const limit = setting('facet.limit');
  const terms = local.get('terms');
  const byLimit = limit > 0 ? 'count' : 'index';
  const except = setting('facet.excludeTerms');
  return {
    key: local.get('key') ?? field,
    request: {
      kind: 'field',
      field,
      limit: limit < 0 ? undefined : limit,
      offset: setting('facet.offset'),
      mincount: setting('facet.mincount'),
      sort: sortOf(setting('facet.sort')) ?? (terms === undefined ? byLimit : 'listed'),
      prefix: setting('facet.prefix'),
      contains: setting('facet.contains'),
      ignoreCase: setting('facet.contains.ignoreCase'),
      only: terms === undefined ? undefined : splitEscaped(terms),
      except: except === undefined ? undefined : splitEscaped(except),
      missing: setting('facet.missing'),
      excludedQueries: excludedBy(local, tagged),
    },
  };
}

function queryFacet(
  text: string,
  tagged: TaggedQueries,
  options: QueryOptions,
  parameter: ParameterLookup,
): NamedFacet {
  const { local } = withErrorContext('facet.query', () => readLocalValue(text, parameter));
  const query = readQuery('facet.query', text, options, parameter);
  return {
    key: local.get('key') ?? text,
    request: { kind: 'query', query, excludedQueries: excludedBy(local, tagged) },
    isUncached: local.get('cache') === 'false',
  };
}

function rangeFacet(text: string, list: ParameterList, tagged: TaggedQueries, parameter: ParameterLookup): NamedFacet {
  const { local, value } = withErrorContext('facet.range', () => readLocalValue(text, parameter));
  const field = fieldName(value);
  const setting = settingsOf(field, local, list);
  const required = (name: 'facet.range.start' | 'facet.range.end' | 'facet.range.gap') => {
    const given = setting(name);
    if (given !== undefined) return given;
    throw new AkinError('bad-request', `Parameter ${name} is required by facet.range=${text.slice(0, 60)}.`);
  };
  const include = setting('facet.range.include');
  return {
    key: local.get('key') ?? field,
    request: {
      kind: 'range',
      field,
      start: required('facet.range.start'),
      end: required('facet.range.end'),
      gap: required('facet.range.gap'),
      hardEnd: setting('facet.range.hardend'),
      mincount: setting('facet.mincount'),
      include: new Set(include.length === 0 ? ['lower'] : include),
      other: new Set(setting('facet.range.other')),
      excludedQueries: excludedBy(local, tagged),
    },
  };
}

/**
 * Looks up settings: those of the field first, then the general ones, each in the local parameters first. Those that
 * may repeat return all values of the first place that has some.
 */
function settingsOf(field: string, local: ReadonlyMap<string, string>, list: ParameterList) {
  return <Name extends keyof FacetSettings>(name: Name): FacetSettings[Name] => {
    const type = FACET_SETTINGS.shape[name];
    for (const spelled of [`f.${field}.${name}`, name]) {
      const inLocal = local.get(spelled);
      const values =
        inLocal === undefined ? list.filter(([sent]) => sent === spelled).map(([, value]) => value) : [inLocal];
      const given = values.filter((value) => value !== '');
      if (given.length === 0) continue;
      const problem = unstorableReason(given.join(''));
      if (problem !== null)
        throw new AkinError('bad-request', `Parameter ${spelled.slice(0, 160)} contains ${problem}.`);
      const result = type.safeParse(isRepeated(name) ? given : given[0]);
      if (result.success) return result.data as FacetSettings[Name];
      throw new AkinError(
        'bad-request',
        `Parameter ${spelled.slice(0, 160)} ${result.error.issues[0]?.message}; it is ${JSON.stringify(given[0]?.slice(0, 60))}.`,
      );
    }
    return type.parse(undefined) as FacetSettings[Name];
  };
}

function isRepeated(name: keyof FacetSettings): boolean {
  return name === 'facet.range.include' || name === 'facet.range.other';
}

/** Old clients send true for count and false for index. */
function sortOf(sort: FacetSettings['facet.sort']): 'count' | 'index' | undefined {
  return sort === 'true' ? 'count' : sort === 'false' ? 'index' : sort;
}

export function excludedBy(local: ReadonlyMap<string, string>, tagged: TaggedQueries): ReadonlySet<Query> {
  const excluded = new Set(namesIn(local.get('ex')));
  return new Set(tagged.filter(({ tags }) => tags.some((tag) => excluded.has(tag))).map(({ query }) => query));
}

export function namesIn(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Values separated by commas; a backslash escapes the next character. */
function splitEscaped(text: string): string[] {
  return (text.match(/(?:\\.|[^,\\])+/gsu) ?? []).map((one) => unescapeBackslashes(one));
}

export function fieldName(value: string): string {
  return unescapeBackslashes(value.trim());
}
