import { AkinError, type ErrorCode } from '@akin/domain';
import {
  type Collection,
  type CollectionSchema,
  cachedCollection,
  findCollection,
  loadSchema,
} from '@akin/store/database';
import type { Context } from '../context.ts';

/** Errors that may only be due to outdated cached data. */
const OUTDATED: readonly ErrorCode[] = ['not-found', 'bad-request', 'conflict'];

interface ResultWithState<T> {
  readonly value: T;
  /** The name of the collection, and the version of its fields, as the database returned them with the result. */
  readonly collection: { readonly name: string; readonly schemaVersion: number };
}

/**
 * Computes a result from the cached state of a collection, which saves a query for the state. If the result shows that
 * the state was outdated, it is computed again from the current one.
 *
 * @param isCostly whether the result is not to be computed from a state that may be outdated, for example because it
 * analyzes a picture: then the current state is read first
 * @throws AkinError not-found if there is no such collection
 */
export async function computeFromCache<T>(
  name: string,
  { store }: Context,
  isCostly: boolean,
  compute: (collection: Collection, schema: CollectionSchema) => Promise<ResultWithState<T>>,
): Promise<T> {
  const cached = isCostly ? undefined : cachedCollection(store, name);
  if (cached !== undefined) {
    const { collection, schema } = cached;
    const made = await compute(collection, schema).catch((error: unknown) => {
      // The field may be new, or the collection another one.
      if (error instanceof AkinError && OUTDATED.includes(error.code)) return undefined;
      throw error;
    });
    if (made?.collection.name === name && made.collection.schemaVersion === schema.version) return made.value;
  }
  let collection = await findCollection(store, name);
  for (;;) {
    const made = await compute(collection, await loadSchema(store, collection));
    if (made.collection.name === name) return made.value;
    // A reindex may have replaced the collection meanwhile, perhaps with the changes that were waited for.
    const present = await findCollection(store, name);
    // Or a standby does not know yet that the collection got the name.
    if (present.id === collection.id) return made.value;
    collection = present;
  }
}
