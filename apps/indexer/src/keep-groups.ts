import { distanceAt, groupRule, scoreOf } from '@akin/modules/vectors';
import { type Collection, type GroupRule, updateGroups } from '@akin/store';
import type { Context } from './context.ts';

/** A turn on one collection; others and the end of the process wait no longer. */
const TURN_MILLISECONDS = 2_000;

/**
 * Brings the groups of near-duplicates of some collections up to their last commits, as far as a turn of each goes.
 *
 * @returns whether all are
 */
export async function keepGroups(
  { store, log }: Pick<Context, 'store' | 'log'>,
  collections: readonly Collection[],
  signal: AbortSignal,
): Promise<boolean> {
  const rule: GroupRule = {
    ...groupRule(),
    sameScore: (module, distance, calibration) => distanceAt(module, scoreOf(module, distance), calibration),
  };
  let done = true;
  for (const collection of collections) {
    if (signal.aborted) return true;
    try {
      const current = await updateGroups(store, collection, rule, { milliseconds: TURN_MILLISECONDS, signal });
      done &&= current;
    } catch (err) {
      // One that cannot be grouped keeps no other from it; it is tried again at the next turn.
      log.error({ err, collection: collection.name }, 'groups were not brought up to the last commit');
    }
  }
  return done;
}
