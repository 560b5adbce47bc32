import type { Lane } from './engine.ts';

interface Waiting {
  readonly start: () => void;
}

/**
 * Hands one connection to one user at a time. Bulk work yields: after a bulk chunk of t milliseconds interactive work
 * that waits gets at least t before the next chunk, and bulk work at least half of the time, so that neither starves.
 */
export class Lanes {
  readonly #interactive: Waiting[] = [];
  readonly #bulk: Waiting[] = [];
  readonly #now: () => number;
  #busy = false;
  /** How long interactive work may still go first, in milliseconds. */
  #credit = 0;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async run<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
    if (this.#busy) {
      const queue = lane === 'bulk' ? this.#bulk : this.#interactive;
      await new Promise<void>((start) => queue.push({ start }));
    }
    this.#busy = true;
    const began = this.#now();
    try {
      return await work();
    } finally {
      const took = this.#now() - began;
      if (lane === 'bulk') this.#credit = took;
      else this.#credit -= took;
      this.#next();
    }
  }

  #next(): void {
    const interactiveFirst = this.#credit > 0 || this.#bulk.length === 0;
    const next = interactiveFirst ? (this.#interactive.shift() ?? this.#bulk.shift()) : this.#bulk.shift();
    // Stays busy when handing over, so that nobody slips in between.
    if (next === undefined) this.#busy = false;
    else next.start();
  }
}
