import { type Collection, requireOwnModels } from '@akin/store';
import type { Context } from '../context.ts';
import type { RankInput } from './rank-inputs.ts';

/**
 * Before what this akin describes is compared with the documents of a collection; documents with one another may be
 * compared whatever model made them.
 *
 * @throws AkinError conflict that names both models
 */
export async function requireOwnModel(
  inputs: readonly RankInput[],
  module: string,
  collection: Collection,
  context: Context,
): Promise<void> {
  if (inputs.some(({ kind }) => kind !== 'id')) await requireOwnModels(context.store, collection, [module]);
}
