import { distanceAt, groupRule, scoreOf } from '@akin/modules/vectors';
import type { Metrics } from '@akin/runtime';
import { type Collection, type GroupRule, type Store, updateGroups } from '@akin/store';

/** A turn on one collection; others and the end of the process wait no longer. */
const TURN_MILLISECONDS = 2_000;

/** Called with the number of documents that were grouped, and whether the searcher found what is near them. */
export type OnGrouped = (documents: number, inMemory: boolean) => void;

/** Counts them. */
export function countGrouped(metrics: Metrics): OnGrouped {
  const grouped = metrics.counter('akin_grouped_documents_total', 'Documents that looked for their group', [
    'searcher',
  ]);
  return (documents, inMemory) => grouped.inc({ searcher: inMemory ? 'memory' : 'database' }, documents);
}

/**
 * Brings the groups of near-duplicates of a collection up to its last commit, as far as a turn goes.
 *
 * @returns whether they are
 */
export function keepGroups(
  store: Store,
  collection: Collection,
  signal: AbortSignal,
  onGrouped?: OnGrouped,
): Promise<boolean> {
  const rule: GroupRule = {
    ...groupRule(),
    sameScore: (module, distance, calibration) => distanceAt(module, scoreOf(module, distance), calibration),
  };
  return updateGroups(store, collection, rule, { milliseconds: TURN_MILLISECONDS, signal, onGrouped });
}
