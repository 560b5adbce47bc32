import type { Queryable } from '../engine/engine.ts';

/** Searches of some processes during about a second. */
export interface SearchTimes {
  readonly count: number;
  /** Milliseconds within which 19 of 20 were answered. */
  readonly p95: number;
}

const LOOK_MILLISECONDS = 1_000;
/** Bulk work was done so shortly before that it may have slowed searches. */
const DISTURBED_MILLISECONDS = 3_000;
/** With searches about, and nothing known of how long they take undisturbed. */
const FIRST_REST = 1;
/** At the most, bulk work goes on at a quarter of its speed: it must come to an end. */
const MOST_REST = 3;
/** Looks with the longest rests after which searches should have become faster, if bulk work is what slows them. */
const FRUITLESS_LOOKS = 5;
/** What faster means: of the time that searches took before. */
const RELIEF = 0.8;
/** No rest is longer: someone who waits for the end of the work must not wonder. */
const LONGEST_REST = 2_000;

/**
 * Throttles bulk work (applying changes, accepting large requests, housekeeping): it rests between its pieces, longer the
 * more it slows searches, and not at all while nobody searches. How long searches take undisturbed is learned from those
 * that come while there is no bulk work, and from those that stay slow however long it rests: other programs slow them.
 */
export class Throttle {
  readonly #slowdown: number;
  readonly #exchange: (own: SearchTimes) => Promise<SearchTimes>;
  readonly #now: () => number;
  #times: number[] = [];
  #undisturbed: number | undefined;
  #lately: number | undefined;
  #rest = 0;
  /** What searches took when it last began to rest longer. */
  #before: number | undefined;
  #fruitlessLooks = 0;
  #searching = false;
  #lastBulk = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param slowdown how many times slower searches may get; 0: bulk work never rests
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

  /** Looks at the searches once a second from now on, until stopped. */
  start(): void {
    const look = () => {
      this.look()
        // The database is away: so are searches.
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

  /** Milliseconds of rest for each millisecond of bulk work, 0 to 3. */
  get strength(): number {
    return this.#rest;
  }

  /** Takes note of the duration of a search. */
  searched(milliseconds: number): void {
    this.#times.push(milliseconds);
  }

  /** Rests after a piece of bulk work, by its duration. */
  async rest(milliseconds: number): Promise<void> {
    this.#lastBulk = this.#now();
    const pause = Math.min(milliseconds * this.#rest, LONGEST_REST);
    if (pause >= 1) await new Promise((resolve) => setTimeout(resolve, pause));
    this.#lastBulk = this.#now();
  }

  /** Learns from the searches since the last look. */
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
    // Undisturbed they take no longer than disturbed.
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

/** Tells the searches of this process to the others that share the database, and gives those of all. */
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
