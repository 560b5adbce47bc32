import { AkinError } from '@akin/domain';
import type { Store } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';
import { reindexState } from '@akin/store/maintenance';

/** @throws AkinError not-found if the collection was never reindexed */
export async function presentReindex(store: Store, collection: Collection): Promise<Record<string, unknown>> {
  const found = await reindexState(store, collection.name);
  if (found === undefined) throw new AkinError('not-found', `${collection.name} was never reindexed.`);
  return { ...found };
}
