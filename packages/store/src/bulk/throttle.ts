import type { Queryable } from '../engine/engine.ts';

/** Searches of some processes during about a second. */
export interface SearchTimes {
  readonly count: number;
  /** Milliseconds within which 19 of 20 were answered (95th percentile). */
  readonly p95: number;
}

const LOOK_MILLISECONDS = 1_000;
/** Bulk work ran so recently that it may have slowed searches. */
const DISTURBED_MILLISECONDS = 3_000;
/** Used while there are searches, and their undisturbed duration is unknown. */
const FIRST_REST = 1;
/** At most, bulk work slows down to a quarter of its speed, because it must end. */
const MOST_REST = 3;
/**
 * Number of seconds with the longest pauses after which searches should have become faster, if bulk work slows them.
 */
const FRUITLESS_LOOKS = 5;
/** Faster means: this share of the earlier duration. */
const RELIEF = 0.8;
/** Maximum pause: users who wait for the end of the work must see progress. */
const LONGEST_REST = 2_000;

/**
 * Throttles bulk work (applying changes, accepting large requests, housekeeping). It pauses between its pieces: longer
 * the more it slows searches, and not at all without searches. The undisturbed duration of searches is learned from
 * those without concurrent bulk work, and from those that stay slow however long it pauses: then other programs slow
 * them.
 */
export class Throttle {
  readonly #slowdown: number;
  readonly #exchange: (own: SearchTimes) => Promise<SearchTimes>;
  readonly #now: () => number;
  #times: number[] = [];
  #undisturbed: number | undefined;
  #lately: number | undefined;
  #rest = 0;
  /** The duration of searches when it last increased its pauses. */
  #before: number | undefined;
  #fruitlessLooks = 0;
  #searching = false;
  #lastBulk = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param slowdown factor by which searches may slow down; 0: bulk work never pauses
   * @param exchange sends the searches of this process to the others, and returns those of all
   */
  constructor(
    slowdown: number,
    exchange: (own: SearchTimes) => Promise<SearchTimes> = async (own) => own,
    now: () => number = () => performance.now(),
  ) {
    this.#slowdown = slowdown;
    this.#exchange = exchange;
    this.#now = now;
  }

  /** Checks the searches once per second from now on, until stopped. */
  start(): void {
    const look = () => {
      this.look()
        // The database is unreachable, so there are no searches.
        .catch(() => {})
        .finally(() => {
          if (this.#timer !== undefined) this.#timer = setTimeout(look, LOOK_MILLISECONDS).unref();
        });
    };
    this.#timer = setTimeout(look, LOOK_MILLISECONDS).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Milliseconds of pause for each millisecond of bulk work, 0 to 3. */
  get strength(): number {
    return this.#rest;
  }

  /** Records the duration of a search. */
  searched(milliseconds: number): void {
    this.#times.push(milliseconds);
  }

  /** Pauses after a piece of bulk work, in proportion to its duration. */
  async rest(milliseconds: number): Promise<void> {
    this.#lastBulk = this.#now();
    const pause = Math.min(milliseconds * this.#rest, LONGEST_REST);
    if (pause >= 1) await new Promise((resolve) => setTimeout(resolve, pause));
    this.#lastBulk = this.#now();
  }

  /** Learns from the searches since the last check. */
  async look(): Promise<void> {
    const times = this.#times.sort((a, b) => a - b);
    this.#times = [];
    const { count, p95 } = await this.#exchange({
      count: times.length,
      p95: times[Math.ceil(times.length * 0.95) - 1] ?? 0,
    });
    if (this.#slowdown === 0) return;
    const before = this.#searching;
    this.#searching = count > 0;
    if (!this.#searching) {
      this.#rest = 0;
      this.#lately = undefined;
      return;
    }
    if (this.#now() - this.#lastBulk > DISTURBED_MILLISECONDS) {
      this.#undisturbed = smoothed(this.#undisturbed, p95, p95 < (this.#undisturbed ?? 0) ? 0.5 : 0.2);
      this.#lately = undefined;
      this.#rest = Math.max(this.#rest, FIRST_REST);
      return;
    }
    if (!before) this.#rest = Math.max(this.#rest, FIRST_REST);
    this.#lately = smoothed(this.#lately, p95, 0.5);
    if (this.#undisturbed === undefined) return;
    // Undisturbed searches take no longer than disturbed ones.
    this.#undisturbed = Math.min(this.#undisturbed, this.#lately);
    const slowdown = this.#lately / this.#undisturbed;
    if (slowdown <= this.#slowdown) {
      this.#before = undefined;
      if (slowdown < (1 + this.#slowdown) / 2) this.#rest *= 0.8;
      return;
    }
    this.#before ??= this.#lately;
    this.#fruitlessLooks =
      this.#rest === MOST_REST && this.#lately > this.#before * RELIEF ? this.#fruitlessLooks + 1 : 0;
    this.#rest = Math.min(MOST_REST, this.#rest * 1.5 + 0.25);
    if (this.#fruitlessLooks < FRUITLESS_LOOKS) return;
    this.#undisturbed = this.#lately;
    this.#before = undefined;
  }
}

function smoothed(before: number | undefined, now: number, share: number): number {
  return before === undefined ? now : before + (now - before) * share;
}

/** Sends the searches of this process to the others that share the database, and returns those of all. */
export function exchangeSearchTimes(database: Queryable, process: string): (own: SearchTimes) => Promise<SearchTimes> {
  let tidied = false;
  return async ({ count, p95 }) => {
    if (!tidied) {
      await database.query(`delete from akin.search_times where at < clock_timestamp() - interval '1 hour'`);
      tidied = true;
    }
    if (count > 0) {
      await database.query(
        `insert into akin.search_times (process, searches, p95) values ($1, $2, $3)
         on conflict (process) do update set searches = excluded.searches, p95 = excluded.p95, at = clock_timestamp()`,
        [process, count, p95],
      );
    }
    const [row] = await database.query<{ count: number; p95: number }>(
      `select coalesce(sum(searches), 0)::float8 as count, coalesce(sum(p95 * searches) / sum(searches), 0)::float8 as p95
         from akin.search_times where at > clock_timestamp() - interval '2500 milliseconds'`,
    );
    return row ?? { count: 0, p95: 0 };
  };
}
