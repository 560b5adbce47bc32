import { distanceAt, groupRule, scoreOf } from '@akin/modules/vectors';
import { type Collection, type GroupRule, type Store, updateGroups } from '@akin/store';

/** A turn on one collection; others and the end of the process wait no longer. */
const TURN_MILLISECONDS = 2_000;

/**
 * Brings the groups of near-duplicates of a collection up to its last commit, as far as a turn goes.
 *
 * @returns whether they are
 */
export function keepGroups(store: Store, collection: Collection, signal: AbortSignal): Promise<boolean> {
  const rule: GroupRule = {
    ...groupRule(),
    sameScore: (module, distance, calibration) => distanceAt(module, scoreOf(module, distance), calibration),
  };
  return updateGroups(store, collection, rule, { milliseconds: TURN_MILLISECONDS, signal });
}
