/**
 * How long a body may still be waited for: a token bucket of milliseconds. It begins full, waiting empties it, and bytes
 * refill it by a least rate. So a body may pause, but one that only trickles has an end.
 */
export class WaitBudget {
  readonly #mostMilliseconds: number;
  readonly #bytesPerSecond: number;
  #left: number;

  /**
   * @param mostMilliseconds the longest pause
   * @param bytesPerSecond what must come for a body to go on for ever
   */
  constructor(mostMilliseconds: number, bytesPerSecond: number) {
    this.#mostMilliseconds = mostMilliseconds;
    this.#bytesPerSecond = bytesPerSecond;
    this.#left = mostMilliseconds;
  }

  /** Milliseconds; 0 or less when the body has been waited for long enough. */
  get left(): number {
    return this.#left;
  }

  /** Subtracts the time of a wait, and adds time for the bytes that came meanwhile. */
  record(waitedMilliseconds: number, bytes: number): void {
    const filled = this.#left - waitedMilliseconds + (bytes / this.#bytesPerSecond) * 1000;
    this.#left = Math.min(this.#mostMilliseconds, filled);
  }
}
