import { AkinError } from '@akin/domain';
import type { Store } from '@akin/store/changes';
import { type Collection, findCollection, loadSchema, modelSetOf } from '@akin/store/database';

/** The content model that analyzes pictures for a collection, as outputs name it. */
export async function contentModelOf(store: Store, collection: Collection): Promise<string | undefined> {
  return modelSetOf(store, await loadSchema(store, collection)).models.get('content');
}

/** The content model of the collection with a name, see {@link contentModelOf}. Undefined if there is no collection. */
export async function contentModelFor(store: Store, name: string): Promise<string | undefined> {
  try {
    return await contentModelOf(store, await findCollection(store, name));
  } catch (error) {
    if (error instanceof AkinError && error.code === 'not-found') return undefined;
    throw error;
  }
}
