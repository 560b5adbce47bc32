import { type Collection, type CollectionSchema, requireOwnModels } from '@akin/store/database';
import type { Context } from '../context.ts';
import type { RankInput } from './rank-inputs.ts';

/**
 * Call this before inputs are compared with the documents of a collection: their descriptors must be of its model.
 * Whole documents of the collection may always be compared with one another.
 *
 * @param schema the schema of the collection; the result shows whether it was current
 * @throws AkinError conflict that names both models
 */
export async function requireModelForInputs(
  inputs: readonly RankInput[],
  module: string,
  collection: Collection,
  schema: CollectionSchema,
  context: Context,
): Promise<void> {
  if (inputs.some(({ kind, region }) => kind !== 'id' || region !== undefined))
    await requireOwnModels(context.store, collection, [module], schema);
}
