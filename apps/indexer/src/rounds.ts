import type { Log } from '@akin/runtime';
import type { Store } from '@akin/store/changes';
import { type Collection, type CollectionState, collectionOf, isOutage } from '@akin/store/database';

/**
 * Interval after which a collection without work is visited again, because some work depends on the time and a
 * notification can be lost.
 */
const REVISIT_MILLISECONDS = 3_600_000;

/**
 * Does some work in many collections, one after the other, and only where there may be some: in those that changed
 * since the work found nothing left to do, and in each about once an hour.
 */
export class Rounds {
  readonly #store: Store;
  readonly #log: Log;
  readonly #failure: string;
  readonly #settled = new Map<number, { readonly version: string; readonly until: number }>();

  /** @param failure log message for a failure of the work in a collection; it is retried in the next round */
  constructor(store: Store, log: Log, failure: string) {
    this.#store = store;
    this.#log = log;
    this.#failure = failure;
  }

  /**
   * @param work returns true if nothing is left to do until the collection changes
   * @returns true if nothing is left to do in any collection; failed collections do not count
   * @throws AkinError unavailable while the database is unreachable
   */
  async run(
    states: readonly CollectionState[],
    work: (collection: Collection) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const now = performance.now();
    const ids = new Set(states.map(({ collection }) => collection.id));
    for (const id of this.#settled.keys()) if (!ids.has(id)) this.#settled.delete(id);
    let done = true;
    for (const { collection, version } of states) {
      if (signal.aborted) return true;
      const settled = this.#settled.get(collection.id);
      if (settled?.version === version && settled.until > now) continue;
      try {
        if (await work(collection)) {
          // Spread over time, so that not all come at the same moment.
          const until = now + REVISIT_MILLISECONDS * (0.75 + Math.random() / 2);
          this.#settled.set(collection.id, { version, until });
        } else done = false;
      } catch (err) {
        if (signal.aborted) return true;
        if (isOutage(err)) throw err;
        // A failure in one does not affect the others. In a dropped one there is nothing to do.
        if ((await collectionOf(this.#store, collection.id)) === undefined) continue;
        this.#log.error({ err, collection: collection.name }, this.#failure);
      }
    }
    return done;
  }
}
