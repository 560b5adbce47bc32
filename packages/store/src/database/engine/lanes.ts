import { AkinError } from '@akin/domain';
import type { Lane } from './engine.ts';

/**
 * The connection is kept for this many milliseconds for the next statement of the same lane. A search may have several
 * statements, and a commit has five per chunk: without this, each would wait for a turn of the other lane.
 */
const KEEP_MILLISECONDS: Readonly<Record<Lane, number>> = { interactive: 5, bulk: 10 };
/** No piece of bulk work starts later than this in a turn. A piece takes at most 50 ms, usually 20. */
const BULK_TURN_MILLISECONDS = 30;

const RETRY_AFTER_SECONDS = 10;

/**
 * Gives one connection to one user at a time. The lanes take turns: bulk work of a few pieces, then interactive work
 * for as long as that took, so that neither starves. Within a turn the connection is kept for a moment for the next
 * statement.
 */
export class Lanes {
  readonly #waiting: Readonly<Record<Lane, (() => void)[]>> = { interactive: [], bulk: [] };
  readonly #now: () => number;
  #busy = false;
  /** When the turn of bulk work began. Undefined while it is not its turn. */
  #bulkSince: number | undefined;
  /** Until then interactive work goes first. */
  #interactiveUntil = Number.NEGATIVE_INFINITY;
  #kept: { readonly lane: Lane; readonly timer: NodeJS.Timeout } | undefined;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param maxWaitMilliseconds milliseconds after which work that has not started is rejected
   * @throws AkinError unavailable if it is rejected
   */
  async run<T>(lane: Lane, work: () => Promise<T>, maxWaitMilliseconds?: number): Promise<T> {
    if (this.#busy || (this.#kept !== undefined && this.#kept.lane !== lane))
      await this.#wait(lane, maxWaitMilliseconds);
    this.#busy = true;
    clearTimeout(this.#kept?.timer);
    this.#kept = undefined;
    if (lane === 'bulk') this.#bulkSince ??= this.#now();
    try {
      return await work();
    } finally {
      this.#next(lane);
    }
  }

  #wait(lane: Lane, maxWaitMilliseconds: number | undefined): Promise<void> {
    const queue = this.#waiting[lane];
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiting = () => {
        clearTimeout(timer);
        resolve();
      };
      queue.push(waiting);
      if (maxWaitMilliseconds === undefined) return;
      timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        const msg = 'The database is busy with earlier requests. Try again shortly.';
        reject(new AkinError('unavailable', msg, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      }, maxWaitMilliseconds);
    });
  }

  /** After a piece of work: the turn continues, waits for the next piece, or goes to the other lane. */
  #next(ended: Lane): void {
    const left = this.#timeLeft(ended);
    if (left <= 0) this.#handOver(ended);
    else if (this.#waiting[ended].length > 0) this.#hand(ended);
    else this.#holdFor(ended, Math.min(left, KEEP_MILLISECONDS[ended]));
  }

  /** Milliseconds that a lane has left in its turn. */
  #timeLeft(lane: Lane): number {
    const end = lane === 'bulk' ? (this.#bulkSince ?? this.#now()) + BULK_TURN_MILLISECONDS : this.#interactiveUntil;
    return end - this.#now();
  }

  #endBulkTurn(): void {
    if (this.#bulkSince === undefined) return;
    const now = this.#now();
    this.#interactiveUntil = now + now - this.#bulkSince;
    this.#bulkSince = undefined;
  }

  #holdFor(lane: Lane, milliseconds: number): void {
    this.#busy = false;
    this.#kept = { lane, timer: setTimeout(() => this.#endKeeping(), milliseconds) };
  }

  /** The timer may be late if the event loop was busy: callers that have arrived in the meantime go first. */
  #endKeeping(): void {
    const kept = this.#kept;
    setImmediate(() => {
      if (kept === undefined || this.#kept !== kept) return;
      this.#kept = undefined;
      this.#handOver(kept.lane);
    });
  }

  #handOver(ended: Lane): void {
    if (ended === 'bulk') this.#endBulkTurn();
    const other = ended === 'bulk' ? 'interactive' : 'bulk';
    this.#hand(this.#waiting[other].length > 0 ? other : ended);
  }

  /** Stays busy during the hand-over, so that no other caller gets in between. */
  #hand(lane: Lane): void {
    const next = this.#waiting[lane].shift();
    this.#busy = next !== undefined;
    next?.();
  }
}
