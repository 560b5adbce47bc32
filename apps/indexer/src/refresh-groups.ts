import { groupRule, PART_RULE } from '@akin/modules/vectors';
import type { Metrics } from '@akin/runtime';
import type { Store } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';
import { updateGroups, updatePartPairs } from '@akin/store/maintenance';

/** Time limit for one collection, so that others and the shutdown do not wait longer. */
const TURN_MILLISECONDS = 2_000;
/** How long a turn waits for the end of a commit: people wait for what a commit shows, and groups take its processor. */
const COMMIT_MILLISECONDS = 30_000;

/** Called with the number of grouped documents, and whether the searcher found their neighbours. */
export type OnGrouped = (documents: number, inMemory: boolean) => void;

export function countGrouped(metrics: Metrics): OnGrouped {
  const grouped = metrics.counter('akin_grouped_documents_total', 'Documents for which a group was sought', [
    'searcher',
  ]);
  return (documents, inMemory) => grouped.inc({ searcher: inMemory ? 'memory' : 'database' }, documents);
}

/** The groups of collections in the background. */
export class Groups {
  readonly #store: Store;
  readonly #onGrouped: OnGrouped | undefined;
  /** Since when the turn of a collection waits for a commit, by its id. */
  readonly #waiting = new Map<number, number>();

  constructor(store: Store, onGrouped?: OnGrouped) {
    this.#store = store;
    this.#onGrouped = onGrouped;
  }

  /**
   * Updates the groups of near-duplicates of a collection to its last commit, and then its pairs of pictures with a
   * common part, as far as possible in one turn. Does nothing while this process applies a commit of the collection, but
   * with commits without a pause has a turn from time to time.
   *
   * @returns whether they are current
   */
  async refresh(collection: Collection, signal: AbortSignal): Promise<boolean> {
    if (this.#waits(collection)) return false;
    const options = { milliseconds: TURN_MILLISECONDS, signal };
    const grouping = { ...options, onGrouped: this.#onGrouped };
    if (!(await updateGroups(this.#store, collection, groupRule(), grouping))) return false;
    return updatePartPairs(this.#store, collection, PART_RULE, options);
  }

  #waits({ id }: Collection): boolean {
    const now = performance.now();
    const since = this.#waiting.get(id) ?? now;
    const waits = this.#store.commits.has(id) && now - since < COMMIT_MILLISECONDS;
    if (waits) this.#waiting.set(id, since);
    else this.#waiting.delete(id);
    return waits;
  }
}
