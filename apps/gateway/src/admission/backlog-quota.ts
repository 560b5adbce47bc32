import { AkinError } from '@akin/domain';
import { type Backlog, readBacklog, type Store } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';
import type { GatewayLimits } from './limits.ts';

/** A request with at most this many changes is small: a user may be waiting for it. */
export const SMALL_REQUEST = 20;
/** Share of the limits by which small requests may exceed them. */
const RESERVE = 0.1;
/** The counts are read again after this time, or later if reading them is slow. */
const FRESH_MILLISECONDS = 1_000;
const FRESH_FACTOR = 20;
const RETRY_AFTER_SECONDS = 10;

interface CachedBacklog {
  until: number;
  readonly backlog: Promise<Backlog>;
  /** Changes that this process has accepted since the counts were read. */
  changes: number;
  pictures: number;
}

/**
 * Limits the backlog: changes that were accepted and are not applied yet. Bulk requests are refused with 429 before the
 * database and the latency grow. Small requests have a reserve and are accepted a little longer.
 */
export class BacklogQuota {
  readonly #store: Store;
  readonly #limits: Pick<GatewayLimits, 'waitingAnalyses' | 'unappliedChanges'>;
  readonly #known = new Map<number, CachedBacklog>();

  constructor(store: Store, limits: Pick<GatewayLimits, 'waitingAnalyses' | 'unappliedChanges'>) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * @param count changes of the request so far; more may follow
   * @param pictures how many of them need an analysis
   * @throws AkinError too-many-requests if they exceed the quota together with the waiting ones
   */
  async require(collection: Collection, count: number, pictures: number): Promise<void> {
    const { waitingAnalyses, unappliedChanges } = this.#limits;
    const known = this.#cachedBacklog(collection);
    const backlog = await known.backlog;
    const analyses = backlog.analyses + known.pictures;
    const changes = backlog.changes + known.changes;
    const share = count <= SMALL_REQUEST ? 1 + RESERVE : 1;
    // A request that alone exceeds the quota is accepted when nothing waits. Otherwise it could never be accepted.
    if (pictures > 0 && analyses > 0 && analyses + pictures > waitingAnalyses * share) {
      throw refusal(`${analyses} pictures of the collection ${collection.name} wait to be analyzed`);
    }
    if (changes > 0 && changes + count > unappliedChanges * share) {
      throw refusal(`${changes} changes of the collection ${collection.name} wait to be applied`);
    }
  }

  record(collection: Collection, count: number, pictures: number): void {
    const known = this.#cachedBacklog(collection);
    known.changes += count;
    known.pictures += pictures;
  }

  #cachedBacklog(collection: Collection): CachedBacklog {
    const before = this.#known.get(collection.id);
    const from = performance.now();
    if (before !== undefined && from < before.until) return before;
    const { waitingAnalyses, unappliedChanges } = this.#limits;
    const backlog = readBacklog(this.#store, collection, {
      analyses: waitingAnalyses * (1 + RESERVE),
      changes: unappliedChanges * (1 + RESERVE),
    });
    const known: CachedBacklog = { until: Number.POSITIVE_INFINITY, backlog, changes: 0, pictures: 0 };
    this.#known.set(collection.id, known);
    backlog.then(
      () => {
        const took = performance.now() - from;
        known.until = performance.now() + Math.max(FRESH_MILLISECONDS, FRESH_FACTOR * took);
      },
      () => this.#known.delete(collection.id),
    );
    return known;
  }
}

function refusal(what: string): AkinError {
  return new AkinError(
    'too-many-requests',
    `${what}: send more when some of them are done. Requests with up to ${SMALL_REQUEST} changes are accepted a little longer.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
