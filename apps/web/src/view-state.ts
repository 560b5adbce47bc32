import {
  type GroupsParameters,
  rankingEndpoint,
  type SearchEndpoint,
  type SearchParameters,
  type TagParameters,
} from '@akin/client';
import { minRelatedScore } from './bands.ts';
import { othersParameters } from './filters/each-filter.ts';
import { DEFAULT_MODE, MODES, type Mode } from './mode.ts';
import { readRegion, regionText } from './region/region.ts';

/** The query: a stored document, a picture at a URL, colours, words, or an uploaded picture. */
export type Query =
  /** `region` is the part of its picture that is compared: `x,y,width,height` as fractions. */
  | { by: 'id'; id: string; region?: string }
  /** With `region`, `picture` shows the part, as that of an upload. */
  | { by: 'url'; url: string; region?: string; picture?: string }
  | { by: 'hex'; hex: string }
  /** Words that describe pictures (`look`), and optionally also occur in the text of documents (`both`). */
  | { by: 'text'; text: string; searchIn: 'look' | 'both' }
  /**
   * The descriptors of an uploaded picture: short enough for a URL, so that the search can be shared. `picture` is a
   * small JPEG of it in base64, to be shown; it stands in the fragment, which is not sent to akin. `data` is the picture
   * itself, where points of pictures find copies: outputs have too few of them.
   */
  | { by: 'outputs'; outputs: string; picture?: string; data?: string }
  /** An uploaded picture itself, if the key does not allow an analysis: too long for a URL. */
  | { by: 'data'; data: string; picture?: string };

export interface Example {
  readonly id: string;
  readonly sign: 'more' | 'less';
  /** Absent: that of its sign. */
  readonly weight?: number;
}

/** The state of the page, stored only in its URL. */
export interface ViewState {
  collection: string;
  /** Results of a search, groups of near-duplicates to review, pending and failed changes, or collections and keys. */
  view: 'search' | 'groups' | 'changes' | 'manage';
  mode: Mode;
  query: Query | null;
  /** Further documents as positive or negative examples. */
  examples: readonly Example[];
  minScore: number;
  words: string;
  filters: string[];
  /**
   * The sort order in the form of akin's parameter: `price asc`. Empty: the nearest, or the best matches for words,
   * first.
   */
  sort: string;
  opened: string | null;
}

export const DEFAULT_COLLECTION = 'my-collection';
const PICTURE = /^#picture=([A-Za-z0-9+/]{1,20000}={0,2})$/;
const VIEWS = ['groups', 'changes', 'manage'] as const;

/** @param url a URL of the page, or the part of it from the `?` on */
export function readState(url: string): ViewState {
  const { searchParams: address, hash } = new URL(url, 'http://page');
  const query = readQuery(address, hash);
  // Words can only be compared with content, and a colour with colours.
  const asked = query?.by === 'hex' ? 'color' : address.get('mode');
  const mode = MODES.find((one) => one === asked && query?.by !== 'text') ?? DEFAULT_MODE;
  return {
    collection: address.get('collection') || DEFAULT_COLLECTION,
    view: VIEWS.find((one) => one === address.get('view')) ?? 'search',
    mode,
    query,
    examples: [...address].flatMap(([name, id]): Example[] =>
      name === 'more' || name === 'less' ? [{ id, sign: name }] : [],
    ),
    minScore: Math.min(1, Math.max(0, Number(address.get('min')) || 0)),
    words: address.get('q') ?? '',
    filters: address.getAll('fq'),
    sort: address.get('sort') ?? '',
    opened: address.get('id'),
  };
}

function readQuery(address: URLSearchParams, hash: string): Query | null {
  const part = readRegion(address.get('region'));
  const region = part ? { region: regionText(part) } : {};
  const [, data] = PICTURE.exec(hash) ?? [];
  const picture = data === undefined ? {} : { picture: data };
  const id = address.get('like');
  if (id !== null) return { by: 'id', id, ...region };
  const url = address.get('url');
  if (url !== null) return { by: 'url', url, ...region, ...picture };
  const hex = address.get('hex');
  if (hex !== null) return { by: 'hex', hex };
  const text = address.get('shows');
  if (text !== null) return { by: 'text', text, searchIn: address.get('in') === 'look' ? 'look' : 'both' };
  const outputs = address.get('outputs');
  return outputs === null ? null : { by: 'outputs', outputs, ...picture };
}

/** Without default values. */
export function writeState(state: ViewState): string {
  const address = new URLSearchParams();
  if (state.collection !== DEFAULT_COLLECTION) address.set('collection', state.collection);
  if (state.view !== 'search') address.set('view', state.view);
  if (state.query?.by === 'id') address.set('like', state.query.id);
  if (state.query?.by === 'url') address.set('url', state.query.url);
  const region = regionOf(state.query);
  if (region !== undefined) address.set('region', region);
  if (state.query?.by === 'hex') address.set('hex', state.query.hex);
  if (state.query?.by === 'text') address.set('shows', state.query.text);
  if (state.query?.by === 'text' && state.query.searchIn === 'look') address.set('in', 'look');
  if (state.query?.by === 'outputs') address.set('outputs', state.query.outputs);
  if (state.query && state.mode !== DEFAULT_MODE) address.set('mode', state.mode);
  for (const { sign, id } of state.query ? state.examples : []) address.append(sign, id);
  if (state.query && state.minScore > 0) address.set('min', String(state.minScore));
  if (state.words) address.set('q', state.words);
  for (const filter of state.filters) address.append('fq', filter);
  if (state.sort) address.set('sort', state.sort);
  if (state.opened !== null) address.set('id', state.opened);
  const { query } = state;
  const picture = query?.by === 'outputs' || query?.by === 'url' ? query.picture : undefined;
  return `?${address}${picture === undefined ? '' : `#picture=${picture}`}`;
}

/** All fields, and where pictures have a part in common. */
export const FIELDS_WITH_PARTS = '*,score,parts_box';

/** The part of the query's picture that is compared. Undefined: all of it. */
function regionOf(query: Query | null): string | undefined {
  return query?.by === 'id' || query?.by === 'url' ? query.region : undefined;
}

/**
 * The request for a state: the endpoint and its parameters, as in "copy as curl".
 *
 * @param filters the filters in the form of the request
 */
export function searchRequest(
  state: ViewState,
  start: number,
  rows: number,
  filters: readonly string[] = state.filters,
): { endpoint: SearchEndpoint; parameters: SearchParameters } {
  const parameters: SearchParameters = { rows };
  if (start > 0) parameters.start = start;
  if (state.words) parameters.q = state.words;
  if (filters.length > 0) Object.assign(parameters, { fq: filters, ...othersParameters(filters) });
  if (state.sort) parameters.sort = state.sort;
  const { query } = state;
  if (!query) {
    // Without a query the order is random, but stays the same on all pages.
    if (!state.words && !state.sort) parameters.sort = 'random7 desc';
    return { endpoint: 'select', parameters };
  }
  const { endpoint, preset } = rankingEndpoint(query.by === 'hex' ? 'color' : state.mode);
  // Where the copies are in the pictures, in collections with the module `parts`.
  if (endpoint === 'duplicate') parameters.fl = FIELDS_WITH_PARTS;
  const minScore = thresholdOf(state);
  const threshold = minScore === undefined ? {} : { 'rank.threshold': minScore };
  return { endpoint, parameters: { ...preset, ...parameters, ...rankParameters(query, state), ...threshold } };
}

/** Of 420 photos, 62 reach this for pure red, 4 for pure blue, all for grey. */
const MIN_COLOR_SCORE = 0.15;

/** The minimum score of results. If results are sorted by something else, they must at least be related. */
export function thresholdOf({ minScore, sort, mode, query }: ViewState): number | undefined {
  if (minScore > 0) return minScore;
  if (!sort || mode === 'duplicate') return undefined;
  return query?.by === 'hex' ? MIN_COLOR_SCORE : minRelatedScore(mode);
}

/**
 * The request for groups of near-duplicates, restricted by words and filters.
 *
 * @param filters the filters in the form of the request
 */
export function groupsParameters(
  state: ViewState,
  rows: number,
  filters: readonly string[],
  cursor?: string,
): GroupsParameters {
  const fq = state.words ? [state.words, ...filters] : filters;
  return { rows, ...(fq.length > 0 ? { fq } : {}), ...(cursor === undefined ? {} : { cursor }) };
}

/** The request for predicted labels of the query; null for colours and words, which have none. */
export function tagParameters(query: Query): TagParameters | null {
  const region = regionOf(query);
  const part = region === undefined ? {} : { 'tagging.input.region': region };
  if (query.by === 'id') return { 'tagging.input.id': query.id, ...part };
  if (query.by === 'url') return { 'tagging.input.url': query.url, ...part };
  if (query.by === 'data') return { 'tagging.input.data': query.data };
  return query.by === 'outputs' ? { 'tagging.input.preprocessed': query.outputs } : null;
}

/** Negative examples have half the weight, so that positive ones dominate. */
const WEIGHTS = { more: 1, less: -0.5 } as const;

export function weightOf({ sign, weight = WEIGHTS[sign] }: Example): number {
  return weight;
}

/** Stored documents first and an uploaded file last, as clients send them: weights and regions are in this order. */
export function rankParameters(
  asked: Query,
  { examples, mode }: Pick<ViewState, 'examples' | 'mode'>,
): SearchParameters {
  const query = mode === 'duplicate' && examples.length === 0 ? pictureItself(asked) : asked;
  const isById = query.by === 'id';
  const others = examples.map(({ id }) => id);
  const ids = isById ? [query.id, ...others] : others;
  const numbers = examples.map(weightOf);
  const weights = isById ? [1, ...numbers] : [...numbers, 1];
  const region = regionOf(query);
  return {
    ...(ids.length > 0 ? { 'rank.by.id': ids } : {}),
    ...(isById ? {} : { [`rank.by.${query.by}`]: textOf(query) }),
    ...(region === undefined ? {} : { 'rank.region': isById ? [region] : [...others.map(() => ''), region] }),
    ...(examples.length > 0 ? { 'rank.weights': weights.join(',') } : {}),
  };
}

function pictureItself(query: Query): Query {
  return query.by === 'outputs' && query.data !== undefined ? { by: 'data', data: query.data } : query;
}

function textOf(query: Exclude<Query, { by: 'id' }>): string {
  if (query.by === 'url') return query.url;
  if (query.by === 'data') return query.data;
  if (query.by === 'text') return query.text;
  return query.by === 'hex' ? query.hex : query.outputs;
}

/**
 * A shell command; single quotes prevent the shell from changing its text.
 *
 * @param keyed whether a key is needed: the shell takes it from AKIN_KEY
 * @param sendsFile whether it sends a picture, the file `picture.jpg`
 */
export function asCurl(address: string, keyed: boolean, sendsFile = false): string {
  const key = keyed ? '-H "Authorization: Bearer $AKIN_KEY" ' : '';
  return `curl ${key}${sendsFile ? '-F file=@picture.jpg ' : ''}'${address.replaceAll("'", '%27')}'`;
}
