import { AkinError } from '@akin/domain';
import type { Store } from '@akin/store/changes';
import { appliedModules, type Collection, findCollection, loadSchema, modelSetOf } from '@akin/store/database';

/** The content model that analyzes pictures for a collection, as outputs name it. */
export async function contentModelOf(store: Store, collection: Collection): Promise<string | undefined> {
  return modelSetOf(store, await loadSchema(store, collection)).models.get('content');
}

/** How pictures of the collection with a name are analyzed: see {@link contentModelOf}, and by which modules. */
export async function analysisFor(
  store: Store,
  name: string,
): Promise<{ readonly model?: string | undefined; readonly modules?: readonly string[] | undefined }> {
  try {
    const collection = await findCollection(store, name);
    return { model: await contentModelOf(store, collection), modules: appliedModules(store, collection) };
  } catch (error) {
    if (error instanceof AkinError && error.code === 'not-found') return {};
    throw error;
  }
}
