import { type Collection, type CollectionSchema, requireOwnModels } from '@akin/store';
import type { Context } from '../context.ts';
import type { RankInput } from './rank-inputs.ts';

/**
 * Call this before descriptors of this process are compared with the documents of a collection. Documents may be
 * compared with one another whatever model made them.
 *
 * @param schema of the collection; the answer shows whether it was current
 * @throws AkinError conflict that names both models
 */
export async function requireOwnModel(
  inputs: readonly RankInput[],
  module: string,
  collection: Collection,
  schema: CollectionSchema,
  context: Context,
): Promise<void> {
  if (inputs.some(({ kind }) => kind !== 'id')) await requireOwnModels(context.store, collection, [module], schema);
}
