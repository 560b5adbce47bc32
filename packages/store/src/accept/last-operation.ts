import { AkinError } from '@akin/domain';
import type { Collection, Store } from '../context.ts';

/** The sequence number of the last accepted operation. 0 before the first one. @throws AkinError not-found */
export async function lastOperation(store: Store, collection: Collection): Promise<number> {
  const [row] = await store.engine.query<{ next_seq: bigint }>('select next_seq from akin.collections where id = $1', [
    collection.id,
  ]);
  if (row === undefined) throw new AkinError('not-found', `The collection ${collection.name} no longer exists.`);
  return Number(row.next_seq) - 1;
}
