import { isCrash } from '../../database/engine/sqlstate.ts';
import { remembered } from '../../database/memory.ts';
import type { CollectionContext } from '../context.ts';

/**
 * A statement that has crashed the embedded database this many times in a row will do so again: another reason would be
 * a rare coincidence.
 */
const MAX_CRASHES = 3;

export class CrashingDeleteError extends Error {
  constructor() {
    super(`it has ended the embedded database ${MAX_CRASHES} times in a row. Change it, for example to fewer clauses`);
  }
}

/** The number of crashes in a row, by collection and sequence number. */
const crashesOf = remembered<number, string>();

/**
 * Runs the statement of a delete by query, and counts its crashes. Nobody can know beforehand that a statement crashes
 * the embedded database, and without a limit each commit would try it again.
 *
 * Crashes are counted in memory: a restarted process tries the delete as often again.
 *
 * @throws CrashingDeleteError at the last of the crashes in a row
 */
export async function countCrashes<T>(
  { store, collection }: Pick<CollectionContext, 'store' | 'collection'>,
  seq: bigint,
  run: () => Promise<T>,
): Promise<T> {
  const crashes = crashesOf(store);
  const key = `${collection.id}:${seq}`;
  try {
    const result = await run();
    crashes.delete(key);
    return result;
  } catch (error) {
    if (store.engine.kind !== 'pglite' || !isCrash(error)) throw error;
    const count = (crashes.get(key) ?? 0) + 1;
    if (count < MAX_CRASHES) crashes.set(key, count);
    else crashes.delete(key);
    throw count < MAX_CRASHES ? error : new CrashingDeleteError();
  }
}
