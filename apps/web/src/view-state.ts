import {
  type GroupsParameters,
  rankingEndpoint,
  type SearchEndpoint,
  type SearchParameters,
  type TagParameters,
} from '@akin/client';
import { leastRelated } from './bands.ts';
import { DEFAULT_MODE, MODES, type Mode } from './mode.ts';

/** What the results are like: a stored document, a picture at an address, colours, words, or an uploaded picture. */
export type Query =
  | { by: 'id'; id: string }
  | { by: 'url'; url: string }
  | { by: 'hex'; hex: string }
  /** What words say: shown by pictures (`look`), and also in the text of documents (`both`). */
  | { by: 'text'; text: string; where: 'look' | 'both' }
  /** The descriptors of an uploaded picture: short enough for an address, so that the search can be shared. */
  | { by: 'outputs'; outputs: string }
  /** An uploaded picture itself, where the key allows no analysis: too long for an address. */
  | { by: 'data'; data: string };

export interface Also {
  readonly id: string;
  readonly sign: 'more' | 'less';
}

/** All that the page shows, kept in its address and nowhere else. */
export interface ViewState {
  collection: string;
  /**
   * Results of a search, groups of near-duplicates to review, changes that are on their way or failed, or collections
   * and keys.
   */
  view: 'search' | 'groups' | 'changes' | 'manage';
  mode: Mode;
  query: Query | null;
  /** Further documents that results are like, or unlike. */
  also: readonly Also[];
  /** The least score of results. */
  least: number;
  words: string;
  filters: string[];
  /** By what results are sorted, as akin takes it: `price asc`. Empty: the nearest, or those that fit the words, first. */
  sort: string;
  /** The id of the document whose details are open. */
  opened: string | null;
}

export const DEFAULT_COLLECTION = 'my-collection';
const VIEWS = ['groups', 'changes', 'manage'] as const;

export function readState(address: URLSearchParams): ViewState {
  const query = readQuery(address);
  // Words are compared by content alone.
  const mode = MODES.find((one) => one === address.get('mode') && query?.by !== 'text') ?? DEFAULT_MODE;
  return {
    collection: address.get('collection') || DEFAULT_COLLECTION,
    view: VIEWS.find((one) => one === address.get('view')) ?? 'search',
    mode,
    query,
    also: [...address].flatMap(([name, id]): Also[] =>
      name === 'more' || name === 'less' ? [{ id, sign: name }] : [],
    ),
    least: Math.min(1, Math.max(0, Number(address.get('min')) || 0)),
    words: address.get('q') ?? '',
    filters: address.getAll('fq'),
    sort: address.get('sort') ?? '',
    opened: address.get('id'),
  };
}

function readQuery(address: URLSearchParams): Query | null {
  const id = address.get('like');
  if (id !== null) return { by: 'id', id };
  const url = address.get('url');
  if (url !== null) return { by: 'url', url };
  const hex = address.get('hex');
  if (hex !== null) return { by: 'hex', hex };
  const text = address.get('shows');
  if (text !== null) return { by: 'text', text, where: address.get('in') === 'look' ? 'look' : 'both' };
  const outputs = address.get('outputs');
  return outputs === null ? null : { by: 'outputs', outputs };
}

/** The address of a state, as short as it can be. */
export function writeState(state: ViewState): string {
  const address = new URLSearchParams();
  if (state.collection !== DEFAULT_COLLECTION) address.set('collection', state.collection);
  if (state.view !== 'search') address.set('view', state.view);
  if (state.query?.by === 'id') address.set('like', state.query.id);
  if (state.query?.by === 'url') address.set('url', state.query.url);
  if (state.query?.by === 'hex') address.set('hex', state.query.hex);
  if (state.query?.by === 'text') address.set('shows', state.query.text);
  if (state.query?.by === 'text' && state.query.where === 'look') address.set('in', 'look');
  if (state.query?.by === 'outputs') address.set('outputs', state.query.outputs);
  if (state.query && state.mode !== DEFAULT_MODE) address.set('mode', state.mode);
  for (const { sign, id } of state.query ? state.also : []) address.append(sign, id);
  if (state.query && state.least > 0) address.set('min', String(state.least));
  if (state.words) address.set('q', state.words);
  for (const filter of state.filters) address.append('fq', filter);
  if (state.sort) address.set('sort', state.sort);
  if (state.opened !== null) address.set('id', state.opened);
  return `?${address}`;
}

/**
 * The request behind a state: the endpoint and its parameters, the same that "copy as curl" gives.
 *
 * @param filters as they are to be sent
 */
export function searchOf(
  state: ViewState,
  start: number,
  rows: number,
  filters: readonly string[] = state.filters,
): { endpoint: SearchEndpoint; parameters: SearchParameters } {
  const parameters: SearchParameters = { rows };
  if (start > 0) parameters.start = start;
  if (state.words) parameters.q = state.words;
  if (filters.length > 0) parameters.fq = filters;
  if (state.sort) parameters.sort = state.sort;
  const { query } = state;
  if (!query) {
    // Without a question the order is a shuffled one that stays the same while one pages.
    if (!state.words && !state.sort) parameters.sort = 'random7 desc';
    return { endpoint: 'select', parameters };
  }
  const { endpoint, preset } = rankingEndpoint(query.by === 'hex' ? 'color' : state.mode);
  const least = thresholdOf(state);
  const threshold = least === undefined ? {} : { 'rank.threshold': least };
  return { endpoint, parameters: { ...preset, ...parameters, ...rankOf(query, state.also), ...threshold } };
}

/** The least score of results, where there is one: what is sorted by something else is to be related at least. */
export function thresholdOf({ least, sort, mode, query }: ViewState): number | undefined {
  if (least > 0) return least;
  return sort && mode !== 'duplicate' ? leastRelated(query?.by === 'hex' ? 'color' : mode) : undefined;
}

/**
 * The request for groups of near-duplicates: words and filters narrow them.
 *
 * @param filters as they are to be sent
 */
export function groupsOf(
  state: ViewState,
  rows: number,
  filters: readonly string[],
  cursor?: string,
): GroupsParameters {
  const fq = state.words ? [state.words, ...filters] : filters;
  return { rows, ...(fq.length > 0 ? { fq } : {}), ...(cursor === undefined ? {} : { cursor }) };
}

/** The request for labels of what is searched for; null for colours and words, which have none. */
export function tagsOf(query: Query): TagParameters | null {
  if (query.by === 'id') return { 'tagging.input.id': query.id };
  if (query.by === 'url') return { 'tagging.input.url': query.url };
  if (query.by === 'data') return { 'tagging.input.data': query.data };
  return query.by === 'outputs' ? { 'tagging.input.preprocessed': query.outputs } : null;
}

/** What is unlike counts half: results are to be like something first. */
const WEIGHTS = { more: 1, less: -0.5 } as const;

/** What the results are ranked by, as parameters. */
export function rankOf(query: Query, also: readonly Also[] = []): SearchParameters {
  const ids = also.map(({ id }) => id);
  const weights = ids.length > 0 ? { 'rank.weights': [1, ...also.map(({ sign }) => WEIGHTS[sign])].join(',') } : {};
  if (query.by === 'id') return { 'rank.by.id': [query.id, ...ids], ...weights };
  const others = ids.length > 0 ? { 'rank.by.id': ids, ...weights } : {};
  if (query.by === 'url') return { 'rank.by.url': query.url, ...others };
  if (query.by === 'data') return { 'rank.by.data': query.data, ...others };
  if (query.by === 'text') return { 'rank.by.text': query.text, ...others };
  return query.by === 'hex' ? { 'rank.by.hex': query.hex, ...others } : { 'rank.by.outputs': query.outputs, ...others };
}

/**
 * A command to paste into a shell; single quotes keep everything in it as it is.
 *
 * @param keyed whether a key is needed: the shell has it as AKIN_KEY
 */
export function asCurl(address: string, keyed: boolean): string {
  const key = keyed ? '-H "Authorization: Bearer $AKIN_KEY" ' : '';
  return `curl ${key}'${address.replaceAll("'", '%27')}'`;
}
