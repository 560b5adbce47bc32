import { FACET_SETTINGS, type FacetSettings } from '@akin/contract';
import {
  badRequest,
  type ParameterLookup,
  type Query,
  readLocalValue,
  unescapeBackslashes,
  unstorableReason,
  withErrorContext,
} from '@akin/domain';
import type { FacetRequest, FacetResult } from '@akin/store/search';
import type { ParameterList } from '../../parameters/parameters.ts';
import { namesIn, type QueryOptions } from '../query-parameters.ts';
import type { NamedListStyle } from './named-list.ts';

/** A kind of facet in a request and in a response. A further one is a file, and a line in `facets.ts`. */
export interface FacetKind<Kind extends FacetResult['kind']> {
  /** The parameter that asks for one, several times if it is repeated. */
  readonly parameter: string;
  /** Its member of `facet_counts`. */
  readonly section: string;
  /** @throws AkinError bad-request that names the parameter */
  read(text: string, asked: Asked): NamedFacet<Extract<FacetRequest, { kind: Kind }>>;
  present(result: Extract<FacetResult, { kind: Kind }>, style: NamedListStyle): unknown;
  /** What the client must know about a result. */
  warning?(key: string, result: Extract<FacetResult, { kind: Kind }>): string | undefined;
}

/** A facet with its name in the response. */
export interface NamedFacet<Request extends FacetRequest = FacetRequest> {
  readonly key: string;
  readonly request: Request;
  /** The matches of this query are not to be cached. */
  readonly isUncached?: boolean;
}

/** The other parameters of the request. */
export interface Asked {
  readonly list: ParameterList;
  readonly tagged: TaggedQueries;
  readonly options: QueryOptions;
  readonly parameter: ParameterLookup;
}

/** Queries by their tags, for facets that exclude them. */
export type TaggedQueries = readonly { readonly tags: readonly string[]; readonly query: Query }[];

/** A field with local parameters: its name in the response, what its facet excludes, and its settings. */
export function readField(name: string, text: string, { list, tagged, parameter }: Asked) {
  const { local, value } = withErrorContext(name, () => readLocalValue(text, parameter));
  const field = unescapeBackslashes(value.trim());
  return {
    field,
    local,
    key: local.get('key') ?? field,
    excludedQueries: excludedBy(local, tagged),
    setting: settingsOf(field, local, list),
  };
}

export function excludedBy(local: ReadonlyMap<string, string>, tagged: TaggedQueries): ReadonlySet<Query> {
  const excluded = new Set(namesIn(local.get('ex')));
  return new Set(tagged.filter(({ tags }) => tags.some((tag) => excluded.has(tag))).map(({ query }) => query));
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
      const subject = `Parameter ${spelled.slice(0, 160)}`;
      const problem = unstorableReason(given.join(''));
      if (problem !== null) throw badRequest(`${subject} contains ${problem}.`);
      const result = type.safeParse(isRepeated(name) ? given : given[0]);
      if (result.success) return result.data as FacetSettings[Name];
      const found = JSON.stringify(given[0]?.slice(0, 60));
      throw badRequest(`${subject} ${result.error.issues[0]?.message}; it is ${found}.`);
    }
    return type.parse(undefined) as FacetSettings[Name];
  };
}

function isRepeated(name: keyof FacetSettings): boolean {
  return name === 'facet.range.include' || name === 'facet.range.other';
}
