import { AkinError } from '@akin/domain';
import type { Lane } from './engine.ts';

interface Waiting {
  readonly start: () => void;
}

/**
 * Whoever asks one statement after the other is back within so many milliseconds: a search has four, and would wait for
 * a bulk chunk before each.
 */
const BACK_WITHIN = 5;

const RETRY_AFTER_SECONDS = 10;

/**
 * Hands one connection to one user at a time. Bulk work yields: after a bulk chunk of t milliseconds interactive work
 * goes first for as long, and the next chunk stays away for a moment behind each piece of it. Then it is the turn of
 * bulk work, so that neither starves.
 */
export class Lanes {
  readonly #interactive: Waiting[] = [];
  readonly #bulk: Waiting[] = [];
  readonly #now: () => number;
  #busy = false;
  /** Until then interactive work goes first. */
  #interactiveUntil = Number.NEGATIVE_INFINITY;
  /** The connection is kept for the next piece of interactive work. */
  #pause: NodeJS.Timeout | undefined;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * @param patience milliseconds after which the work is given up that has not begun
   * @throws AkinError unavailable when it is given up
   */
  async run<T>(lane: Lane, work: () => Promise<T>, patience?: number): Promise<T> {
    if (this.#busy || (lane === 'bulk' && this.#pause !== undefined)) await this.#turn(lane, patience);
    this.#busy = true;
    clearTimeout(this.#pause);
    this.#pause = undefined;
    const began = this.#now();
    try {
      return await work();
    } finally {
      if (lane === 'bulk') this.#interactiveUntil = 2 * this.#now() - began;
      this.#next(lane);
    }
  }

  #turn(lane: Lane, patience: number | undefined): Promise<void> {
    const queue = lane === 'bulk' ? this.#bulk : this.#interactive;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiting = {
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      queue.push(waiting);
      if (patience === undefined) return;
      timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        const msg = 'The database is busy with requests that came before. Try again shortly.';
        reject(new AkinError('unavailable', msg, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      }, patience);
    });
  }

  #next(ended: Lane): void {
    const left = this.#interactiveUntil - this.#now();
    if (left > 0 && ended === 'interactive' && this.#interactive.length === 0) {
      this.#busy = false;
      this.#pause = setTimeout(() => this.#endPause(), Math.min(left, BACK_WITHIN));
      return;
    }
    this.#hand(left > 0 ? [this.#interactive, this.#bulk] : [this.#bulk, this.#interactive]);
  }

  /** A busy event loop may be late: who came meanwhile is heard first. */
  #endPause(): void {
    const pause = this.#pause;
    setImmediate(() => {
      if (this.#pause !== pause) return;
      this.#pause = undefined;
      this.#hand([this.#bulk]);
    });
  }

  /** Stays busy when handing over, so that nobody slips in between. */
  #hand(queues: readonly Waiting[][]): void {
    const next = queues.find((queue) => queue.length > 0)?.shift();
    this.#busy = next !== undefined;
    next?.start();
  }
}
