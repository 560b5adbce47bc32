/**
 * How long to wait for a body: a token bucket of milliseconds. It starts full, waiting empties it, and bytes refill it
 * at a minimum rate. So a body may pause, but one that only trickles ends.
 */
export class WaitBudget {
  readonly #maxMilliseconds: number;
  readonly #bytesPerSecond: number;
  #left: number;

  constructor(maxMilliseconds: number, bytesPerSecond: number) {
    this.#maxMilliseconds = maxMilliseconds;
    this.#bytesPerSecond = bytesPerSecond;
    this.#left = maxMilliseconds;
  }

  /** Milliseconds; 0 or less if the waiting time is used up. */
  get left(): number {
    return this.#left;
  }

  /** Subtracts the time of a wait, and adds time for the bytes that arrived. */
  record(waitedMilliseconds: number, bytes: number): void {
    const filled = this.#left - waitedMilliseconds + (bytes / this.#bytesPerSecond) * 1000;
    this.#left = Math.min(this.#maxMilliseconds, filled);
  }
}
