import { AkinRequestError, createRequestError } from './errors.ts';
import { type Filter, field, filter } from './filter.ts';
import type { Picture } from './picture.ts';
import type { SearchParameters } from './types.ts';

/** Filters that documents must match, all of them. */
export type Filters = string | Filter | readonly (string | Filter)[];

export interface RequestOptions {
  readonly signal?: AbortSignal;
}

/** Options of every search. */
export interface SearchOptions<Name extends string = string> extends RequestOptions {
  readonly filter?: Filters;
  /** Maximum number of documents, up to 1,000. Default: 10. */
  readonly limit?: number;
  /** Number of documents to skip. */
  readonly offset?: number;
  /** Names of the fields to return. Default: `*`, all but the outputs of the analysis. */
  readonly fields?: readonly Name[];
  /** For example `price asc, id asc`. */
  readonly sort?: string;
  /** Name of a field: only the best document for each of its values, such as one picture of each product. */
  readonly collapse?: string;
  /**
   * Name of a field: the best documents for each of its values, as `groups` of the result. `limit` counts groups, and so
   * does `total`.
   */
  readonly group?:
    | string
    | { readonly field: string /** Documents of a group. Default: 1. */; readonly limit?: number };
  /** Fields whose values are counted in all matching documents; values that none of them has are left out. */
  readonly facets?: readonly string[];
  /** Waits until the change with this token (`responseHeader.token`) is visible. */
  readonly after?: string;
  /** Further parameters of the HTTP interface. The other options win over them, and they over defaults. */
  readonly wire?: SearchParameters;
}

/**
 * What documents should look like. Several inputs are combined; `wire: { 'rank.weights': '1,-0.5' }` sets their
 * weights, in the order of the inputs here, files last.
 */
export interface RankInput {
  /** Ids of stored documents. */
  readonly id?: string | readonly string[];
  /** URLs of pictures, which akin downloads. */
  readonly url?: string | readonly string[];
  /** Pictures that are sent with the request: paths (in Node), Buffers, Blobs, Files or streams. */
  readonly file?: Picture | readonly Picture[];
  /** Colours, for example `#e03c31`. */
  readonly color?: string | readonly string[];
  /** Descriptions of pictures in words, for collections whose model supports words. */
  readonly text?: string | readonly string[];
  /** The `outputs` of `analyze`. */
  readonly outputs?: string;
  /**
   * The part of each picture that counts, in the order of `id`, `url` and `file` here, files last; undefined: all of it.
   */
  readonly region?: Region | readonly (Region | undefined)[];
}

/** A part of a picture in fractions of its upright sides: left, top, width and height. */
export type Region = readonly [x: number, y: number, width: number, height: number];

export interface SimilarOptions<Name extends string = string> extends SearchOptions<Name> {
  /**
   * The module whose descriptors are compared: `content`, `color`, `duplicate` for copies of one picture, `parts` for
   * pictures that have a part in common, or another module of the server. Default: `color` if only colours are given, otherwise `content`.
   */
  readonly by?: 'content' | 'color' | 'duplicate' | 'parts' | (string & {});
  /** Minimum score, 0 to 1. */
  readonly threshold?: number;
  /** Whether the results include the documents of `id`. Default: no. */
  readonly itself?: boolean;
}

const INPUTS = {
  id: 'rank.by.id',
  url: 'rank.by.url',
  color: 'rank.by.hex',
  text: 'rank.by.text',
  outputs: 'rank.by.outputs',
} as const;

/** The names of the options for parameters. */
const OPTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(INPUTS).map(([option, parameter]) => [parameter, option])),
  'rank.by.data': 'file',
  'rank.region': 'region',
  'rank.threshold': 'threshold',
  'rank.mode': 'by',
  fq: 'filter',
  rows: 'limit',
  start: 'offset',
  fl: 'fields',
  'facet.field': 'facets',
  'group.field': 'group',
};

/** Names with a dot, and others where a message calls them parameters. */
const PARAMETERS = /\b(?:rank|facet|group)\.[a-z.]*[a-z]\b|(?<=\bParameters? (?:start and )?)(?:fq|rows|start|fl)\b/g;

/** The response, or the error of akin with the names of the options. */
export async function withOptionNames<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof AkinRequestError)) throw error;
    const message = error.message.replace(PARAMETERS, (name) => OPTIONS[name] ?? name);
    throw createRequestError(error.status, message, error.details, error.retryAfterSeconds);
  }
}

/** @throws TypeError for an unknown option, which programs without types would not notice */
export function toSearchParameters(
  {
    filter: filters,
    limit,
    offset,
    fields,
    sort,
    facets,
    after,
    collapse,
    group,
    wire,
    signal: _,
    ...unknown
  }: SearchOptions,
  ranked = false,
): SearchParameters {
  refuseUnknown(unknown);
  const fq = [
    ...(filters === undefined ? [] : listOf(filters).map(String)),
    ...(collapse === undefined ? [] : [`{!collapse field='${collapse.replace(/[\\']/g, '\\$&')}'}`]),
  ];
  const { field: groupField, limit: members = 1 } = typeof group === 'object' ? group : { field: group };
  return {
    fl: fieldList(undefined, ranked),
    ...(facets === undefined ? {} : { 'facet.mincount': 1 }),
    ...wire,
    ...(fields === undefined ? {} : { fl: fieldList(fields, ranked) }),
    ...(facets === undefined ? {} : { facet: true, 'facet.field': facets }),
    ...(fq.length === 0 ? {} : { fq }),
    ...(groupField === undefined
      ? {}
      : { group: true, 'group.field': groupField, 'group.limit': members, 'group.ngroups': true }),
    ...(limit === undefined ? {} : { rows: limit }),
    ...(offset === undefined ? {} : { start: offset }),
    ...(sort === undefined ? {} : { sort }),
    ...(after === undefined ? {} : { after }),
  };
}

/** The parameters of a search by pictures, and the module that it ranks by. */
export function toRankParameters(
  { file, region, ...inputs }: RankInput,
  { by, threshold, itself, ...options }: SimilarOptions,
): { by: string; parameters: SearchParameters } {
  const parameters = toSearchParameters(options, true);
  const given = Object.entries(inputs).filter(([, value]) => value !== undefined);
  // In the order of the inputs, which is also the order of the weights; files come last.
  for (const [name, value] of given) {
    const parameter = INPUTS[name as keyof typeof INPUTS];
    if (parameter === undefined) refuseUnknown({ [name]: value });
    else parameters[parameter] = listOf(value as string);
  }
  if (given.length === 0 && file === undefined) {
    throw new TypeError('A search for similar pictures needs id, file, url, color, text or outputs.');
  }
  if (region !== undefined) parameters['rank.region'] = regionTexts(region);
  if (threshold !== undefined) parameters['rank.threshold'] = threshold;
  if (inputs.id !== undefined && !itself) {
    parameters.fq = [...listOf(parameters.fq ?? []), String(filter`-id:${listOf(inputs.id)}`)];
  }
  const onlyColors = file === undefined && given.every(([name]) => name === 'color');
  return { by: by ?? (onlyColors ? 'color' : 'content'), parameters };
}

function refuseUnknown(given: object): void {
  const [unknown] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (unknown === undefined) return;
  const known = OPTIONS[unknown];
  const advice = known === undefined ? 'parameters of the HTTP interface go into wire' : `use ${known}`;
  throw new TypeError(`There is no option ${unknown}: ${advice}.`);
}

function regionTexts(region: NonNullable<RankInput['region']>): string[] {
  const isOne = typeof region[0] === 'number';
  const regions = (isOne ? [region] : region) as readonly (Region | undefined)[];
  return regions.map((one) => one?.join() ?? '');
}

/** The `fl` for these names, always with the id: `*` is without the outputs of the analysis. */
export function fieldList(fields: readonly string[] = ['*'], ranked = false): string {
  const names = fields.map((name) => (name === '*' ? '*,-outputs' : String(field(name))));
  return [...new Set(['id', ...(ranked ? ['score'] : []), ...names])].join(',');
}

export const listOf = <T>(value: T | readonly T[]): T[] => (Array.isArray(value) ? [...value] : [value as T]);
