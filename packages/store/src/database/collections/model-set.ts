import { AkinError } from '@akin/domain';
import type { Collection, CollectionSchema, Database } from '../context.ts';
import type { ModelSet } from '../model-sets.ts';

/** Reads, compares and stores the outputs of a collection. */
export function modelSetOf(store: Database, { models }: Pick<CollectionSchema, 'models'>): ModelSet {
  return store.modelSets.of(models);
}

/** The name of the model that was chosen for a collection, if any. */
export function modelName({ settings }: Pick<Collection, 'settings'>): string | undefined {
  return typeof settings.model === 'string' ? settings.model : undefined;
}

/**
 * The models that a collection will have while it has no descriptors.
 *
 * @returns undefined if the chosen ones are not here
 */
export async function configuredModelSet(store: Database, collection: Collection): Promise<ModelSet | undefined> {
  const name = modelName(collection);
  if (name === undefined) return store;
  try {
    return await store.modelSets.ofName(name);
  } catch (error) {
    if (error instanceof AkinError) return undefined;
    throw error;
  }
}

/**
 * The modules that analyze the pictures of a collection, unless a request names others. Undefined: all that are not
 * optional.
 */
export function appliedModules(
  { defaultModules }: Pick<Database, 'defaultModules'>,
  { settings }: Pick<Collection, 'settings'>,
): readonly string[] | undefined {
  return Array.isArray(settings.modules) ? settings.modules : defaultModules;
}
