import { AkinError } from '@akin/domain';
import { type Collection, reindexState, type Store } from '@akin/store';

/** @throws AkinError not-found if the collection was never reindexed */
export async function presentReindex(store: Store, collection: Collection): Promise<Record<string, unknown>> {
  const found = await reindexState(store, collection.name);
  if (found === undefined) throw new AkinError('not-found', `${collection.name} was never reindexed.`);
  return { ...found };
}
