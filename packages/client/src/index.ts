/**
 * The client of akin: a thin, typed layer over its HTTP interface that runs in browsers and in Node.
 *
 * @example
 * const akin = createClient({ baseUrl: 'http://127.0.0.1:8983' });
 * const shoes = akin.collection<{ brand: string; price: number }>('my-collection');
 * await shoes.add({ id: '1', image: 'https://example.org/shoe.jpg', brand: 'Ada', price: 79 }, { wait: true });
 * const { documents } = await shoes.similar({ file: 'photo.jpg' }, { filter: filter`brand:${'Ada'}`, limit: 12 });
 */

export type { CollectionEvent } from './changes.ts';
export { type Client, createClient } from './client.ts';
export { Collection } from './collection.ts';
export {
  AkinRequestError,
  BadRequestError,
  BusyError,
  ConflictError,
  KeyError,
  NoResponseError,
  NotFoundError,
  PictureError,
  QuotaError,
} from './errors.ts';
export { Filter, type FilterValue, field, filter } from './filter.ts';
export { type Plain, parseResponse } from './json.ts';
export type { Key, NewKey, Scope } from './keys.ts';
export type { Picture } from './picture.ts';
export { rankingEndpoint, type SearchEndpoint } from './ranking-endpoint.ts';
export type { ClientConfig } from './request.ts';
export type { Filters, RankInput, Region, SearchOptions, SimilarOptions } from './search-options.ts';
export type { DocumentGroup, FacetValue, SearchResult } from './search-result.ts';
export { type SearchTokenOptions, searchToken } from './search-token.ts';
export type { CommonFields, FieldName, Found, Matched, OutputFields, Ranked, Stored } from './stored.ts';
export { titleOfFile } from './title.ts';
export {
  type AddOptions,
  type FacetOptions,
  type GetOptions,
  type GroupOptions,
  type StatsOptions,
  TypedCollection,
} from './typed-collection.ts';
export type * from './types.ts';
