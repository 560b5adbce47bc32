import { groupRule, PART_RULE } from '@akin/modules/vectors';
import type { Metrics } from '@akin/runtime';
import { type Store, updateGroups, updatePartPairs } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';

/** Time limit for one collection, so that others and the shutdown do not wait longer. */
const TURN_MILLISECONDS = 2_000;

/** Called with the number of grouped documents, and whether the searcher found their neighbours. */
export type OnGrouped = (documents: number, inMemory: boolean) => void;

export function countGrouped(metrics: Metrics): OnGrouped {
  const grouped = metrics.counter('akin_grouped_documents_total', 'Documents for which a group was sought', [
    'searcher',
  ]);
  return (documents, inMemory) => grouped.inc({ searcher: inMemory ? 'memory' : 'database' }, documents);
}

/**
 * Updates the groups of near-duplicates of a collection to its last commit, and then its pairs of pictures with a common
 * part, as far as possible in one run.
 *
 * @returns whether they are current
 */
export async function refreshGroups(
  store: Store,
  collection: Collection,
  signal: AbortSignal,
  onGrouped?: OnGrouped,
): Promise<boolean> {
  const options = { milliseconds: TURN_MILLISECONDS, signal };
  if (!(await updateGroups(store, collection, groupRule(), { ...options, onGrouped }))) return false;
  return updatePartPairs(store, collection, PART_RULE, options);
}
