import { setTimeout as delay } from 'node:timers/promises';
import type { Queryable } from '../engine/engine.ts';

/** Searches of some processes during about a second. */
export interface SearchTimes {
  readonly count: number;
  /** Milliseconds within which 19 of 20 were answered (95th percentile). */
  readonly p95: number;
}

const POLL_MILLISECONDS = 1_000;
/** Bulk work that was not active for this time has ended. Before that, it may only pause. */
const ENDED_MILLISECONDS = 3_000;
/** Bulk work keeps at least a quarter of its speed, because it must end. */
const MIN_SHARE = 1 / 4;
/** Maximum pause: users who wait for the end of the work must see progress. */
const MAX_PAUSE = 2_000;
/** The last seconds of each period try another share of the time, to measure its effect on searches. */
const PERIOD = 8;
const TRIED = 3;
/**
 * The throttle aims at this part of the logarithm of the allowed slowdown. The rest is for the shares that it tries.
 */
const MARGIN = 0.65;

/**
 * Throttles bulk work (applying changes, accepting large requests, housekeeping): it pauses between its chunks, for
 * longer the more it slows searches, and not at all without searches. Other programs slow searches too. To measure its
 * own effect, the throttle varies the share of the time in which bulk work is active: see {@link Effect}.
 */
export class Throttle {
  readonly #slowdown: number;
  readonly #exchange: (own: SearchTimes) => Promise<SearchTimes>;
  readonly #now: () => number;
  readonly #effect = new Effect();
  #times: number[] = [];
  #pauseRatio = 0;
  /** Checks since bulk work began. */
  #checks = 0;
  #lastBulk = Number.NEGATIVE_INFINITY;
  /** Whether bulk work was active since the last check. */
  #worked = false;
  /** The share of the time of bulk work before the last check, if it was active. */
  #shareBefore: number | undefined;
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
    const check = () => {
      this.adjust()
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

  /** Milliseconds of pause for each millisecond of bulk work, 0 to 3. */
  get pauseRatio(): number {
    return this.#pauseRatio;
  }

  /** Records the duration of a search. */
  recordSearchTime(milliseconds: number): void {
    this.#times.push(milliseconds);
  }

  /** Pauses after a piece of bulk work, in proportion to its duration. @param signal ends the pause */
  async pauseAfter(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.#worked = true;
    this.#lastBulk = this.#now();
    const pause = Math.min(milliseconds * this.#pauseRatio, MAX_PAUSE);
    if (pause >= 1) await delay(pause, undefined, { signal }).catch(() => undefined);
    this.#lastBulk = this.#now();
  }

  /** Adjusts the pauses to the searches since the last check. */
  async adjust(): Promise<void> {
    const times = this.#times.sort((a, b) => a - b);
    this.#times = [];
    const { count, p95 } = await this.#exchange({
      count: times.length,
      p95: times[Math.ceil(times.length * 0.95) - 1] ?? 0,
    });
    if (this.#slowdown === 0) return;
    const isAtWork = this.#worked;
    this.#worked = false;
    this.#checks = this.#now() - this.#lastBulk > ENDED_MILLISECONDS ? 0 : this.#checks + 1;
    const share = 1 / (1 + this.#pauseRatio);
    // The figures of other processes are from this second or the previous one.
    const recent = (share + (this.#shareBefore ?? share)) / 2;
    this.#shareBefore = isAtWork ? share : undefined;
    if (count === 0) {
      this.#pauseRatio = 0;
      return;
    }
    // Without bulk work, other programs may start or stop: these seconds cannot be compared with those of bulk work.
    if (isAtWork) this.#effect.learn(recent, p95);
    const wanted = this.#effect.shareFor(MARGIN * Math.log(this.#slowdown));
    const isTrying = this.#checks % PERIOD >= PERIOD - TRIED;
    this.#pauseRatio = 1 / (isTrying ? otherShare(wanted) : wanted) - 1;
  }
}

/** A share that is different enough to show its effect. */
function otherShare(share: number): number {
  return share > 1 / 2 ? share / 2 : share * 1.6;
}

/** The weight of the newest second. */
const NEWEST = 0.1;
/** A larger change of the duration (as a logarithm) counts as this one, because something else may have happened. */
const MAX_CHANGE = Math.log(2);
/** Assumed before anything is known: bulk work at full speed doubles the duration of searches. */
const FIRST_EFFECT = Math.log(2);
/** The weight of this assumption, as a variance of shares. */
const FIRST_WEIGHT = 0.003;

/**
 * Measures how much bulk work slows searches: a ridge regression of the logarithm of their duration on the share of the
 * time of bulk work, with exponential forgetting. Causes that do not depend on this share do not change the slope.
 */
class Effect {
  #share: number | undefined;
  #time = 0;
  #variance = 0;
  #covariance = 0;

  /** Adds a second. @param share the share of the time in which bulk work was active, 0 to 1 */
  learn(share: number, milliseconds: number): void {
    const time = Math.log(Math.max(milliseconds, 0.01));
    if (this.#share === undefined) {
      this.#share = share;
      this.#time = time;
      return;
    }
    const byShare = share - this.#share;
    const byTime = Math.min(MAX_CHANGE, Math.max(-MAX_CHANGE, time - this.#time));
    this.#variance = (1 - NEWEST) * (this.#variance + NEWEST * byShare * byShare);
    this.#covariance = (1 - NEWEST) * (this.#covariance + NEWEST * byShare * byTime);
    this.#share += NEWEST * byShare;
    this.#time += NEWEST * (time - this.#time);
  }

  /** The largest share of the time, from a quarter to 1, that slows searches by at most `slowdown` (a logarithm). */
  shareFor(slowdown: number): number {
    const slope = (this.#covariance + FIRST_WEIGHT * FIRST_EFFECT) / (this.#variance + FIRST_WEIGHT);
    return slope <= slowdown ? 1 : Math.max(MIN_SHARE, slowdown / slope);
  }
}

/**
 * Shares search times with the other processes on a database.
 *
 * @param process unique name of this process
 * @returns a function that stores those of this process, and returns those of all during the last seconds
 */
export function exchangeSearchTimes(database: Queryable, process: string): (own: SearchTimes) => Promise<SearchTimes> {
  let tidied = false;
  return async ({ count, p95 }) => {
    if (!tidied) {
      await database.query(`delete from akin.search_times where updated_at < clock_timestamp() - interval '1 hour'`);
      tidied = true;
    }
    if (count > 0) {
      await database.query(
        `insert into akin.search_times (process, searches, p95) values ($1, $2, $3)
         on conflict (process) do update set searches = excluded.searches, p95 = excluded.p95,
               updated_at = clock_timestamp()`,
        [process, count, p95],
      );
    }
    const [row] = await database.query<{ count: number; p95: number }>(
      `select coalesce(sum(searches), 0)::float8 as count, coalesce(sum(p95 * searches) / sum(searches), 0)::float8 as p95
         from akin.search_times where updated_at > clock_timestamp() - interval '2500 milliseconds'`,
    );
    return row ?? { count: 0, p95: 0 };
  };
}
