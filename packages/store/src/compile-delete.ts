import { parseQuery } from '@akin/domain';
import type { Collection } from './collections.ts';
import type { CollectionSchema } from './schema.ts';
import { compileQuery } from './search/compile.ts';
import type { Params } from './search/params.ts';
import type { Store } from './store.ts';

/**
 * The query of a delete as SQL over a row `d` of `documents`.
 * @param acceptedAt what NOW means: the delete speaks of the time when it was accepted
 * @throws AkinError bad-request when the query cannot be read, or names a field that no document has
 */
export function compileDelete(
  {
    store,
    collection,
    schema,
  }: { readonly store: Store; readonly collection: Collection; readonly schema: CollectionSchema },
  query: string,
  acceptedAt: Date,
  params: Params,
): string {
  const tables = { sqlSchema: collection.sqlSchema, schema, modules: store.modules };
  return `(${compileQuery(parseQuery(query), { tables, params, now: acceptedAt, timeZone: 'UTC' }, false).where})`;
}
