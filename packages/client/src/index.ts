/**
 * The SDK of akin: a thin, typed layer over its HTTP interface that runs in browsers and in Node.
 *
 * @example
 * const akin = createClient({ baseUrl: 'http://127.0.0.1:8983' });
 * const shop = akin.collection('my-collection');
 * await shop.add([{ id: '1', image: 'https://example.org/shoe.jpg', labels: ['shoe'] }], { commit: true });
 * const { response } = await shop.image({ 'rank.by.id': '1', fq: ['-id:1'], rows: 12 });
 * const alike = await shop.image({ rows: 12 }, { file: 'photos/shoe.jpg' });
 */

export type { CollectionEvent } from './changes.ts';
export { type Client, createClient } from './client.ts';
export { Collection } from './collection.ts';
export { type Plain, readAnswer } from './json.ts';
export type { Key, NewKey, Scope } from './keys.ts';
export type { Picture } from './picture.ts';
export { AkinRequestError, type ClientConfig } from './request.ts';
export type * from './types.ts';
export type { CollectionSummary } from './types.ts';
