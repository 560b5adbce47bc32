import { type Collection, type CollectionSchema, requireOwnModels } from '@akin/store';
import type { Context } from '../context.ts';
import type { RankInput } from './rank-inputs.ts';

/**
 * Before what this akin describes is compared with the documents of a collection; documents with one another may be
 * compared whatever model made them.
 *
 * @param schema of the collection; whether it was the current one is found out with the answer
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
