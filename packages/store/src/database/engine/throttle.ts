import { sleep } from '@akin/runtime';
import type { Queryable } from './engine.ts';

const POLL_MILLISECONDS = 1_000;
/** A search counts for this time. */
const RECENT_MILLISECONDS = 1_000;
/** Bulk work keeps at least a quarter of its speed, because it must end. */
const MAX_PAUSES = 3;
/** Users who wait for the end of the work must see progress. */
const MAX_PAUSE_MILLISECONDS = 700;

/**
 * Throttles bulk work (applying changes, accepting large requests, housekeeping) while there are searches: after each
 * piece it pauses as long as the piece took, and up to two times more while searches go on.
 */
export class Throttle {
  readonly #isOn: boolean;
  readonly #exchange: (isSearching: boolean) => Promise<boolean>;
  #lastSearch = Number.NEGATIVE_INFINITY;
  /** Whether other processes search, as of the last check. */
  #othersSearch = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param isOn whether bulk work ever pauses
   * @param exchange tells the other processes whether this one searches, and returns whether any does
   */
  constructor(isOn: boolean, exchange: (isSearching: boolean) => Promise<boolean> = async (own) => own) {
    this.#isOn = isOn;
    this.#exchange = exchange;
  }

  /** Asks once per second from now on whether other processes search, until stopped. */
  start(): void {
    const check = () => {
      this.check()
        // The database is unreachable, so there are no searches.
        .catch(() => {})
        .finally(() => {
          if (this.#timer !== undefined) this.#timer = setTimeout(check, POLL_MILLISECONDS).unref();
        });
    };
    this.#timer = setTimeout(check, POLL_MILLISECONDS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Whether bulk work pauses, because somebody searched during the last second. */
  get isPausing(): boolean {
    return this.#isOn && (this.#isSearching || this.#othersSearch);
  }

  recordSearch(): void {
    this.#lastSearch = performance.now();
  }

  /** @param milliseconds what the piece of bulk work took */
  async pauseAfter(milliseconds: number, signal: AbortSignal = new AbortController().signal): Promise<void> {
    const pause = Math.min(milliseconds, MAX_PAUSE_MILLISECONDS);
    for (let i = 0; i < MAX_PAUSES && pause >= 1 && this.isPausing && !signal.aborted; i++) {
      await sleep(pause, signal).catch(() => undefined);
    }
  }

  /** Tells the other processes whether this one searches, and learns whether they do. */
  async check(): Promise<void> {
    this.#othersSearch = false;
    this.#othersSearch = await this.#exchange(this.#isSearching);
  }

  get #isSearching(): boolean {
    return performance.now() - this.#lastSearch < RECENT_MILLISECONDS;
  }
}

/**
 * Shares with the other processes on a database whether they search.
 *
 * @param process unique name of this process
 * @returns a function that records that this process searches, if it does, and returns whether any did a moment ago
 */
export function exchangeSearches(database: Queryable, process: string): (isSearching: boolean) => Promise<boolean> {
  let tidied = false;
  return async (isSearching) => {
    if (!tidied) {
      await database.query(`delete from akin.search_times where updated_at < clock_timestamp() - interval '1 hour'`);
      tidied = true;
    }
    if (isSearching) {
      await database.query(
        `insert into akin.search_times (process) values ($1)
         on conflict (process) do update set updated_at = clock_timestamp()`,
        [process],
      );
    }
    // Others write once per second, too.
    const [row] = await database.query<{ some: boolean }>(
      `select exists (select from akin.search_times
                       where updated_at > clock_timestamp() - interval '2500 milliseconds') as some`,
    );
    return row?.some ?? false;
  };
}
