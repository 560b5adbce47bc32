import { sleep } from '@akin/runtime';

const FIRST_WAIT_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 15_000;

/**
 * Limits how many requests are under way: half as many as soon as akin says that it has too much to do, one more for each
 * that it takes (additive increase, multiplicative decrease: Chiu and Jain 1989).
 */
export class ConcurrencyLimiter {
  readonly #most: number;
  #allowed = 1;
  #running = 0;
  #notBefore = 0;
  #wait = FIRST_WAIT_MILLISECONDS;
  readonly #waiting: (() => void)[] = [];

  /** Begins with one request: the fields that the first one defines are there for those behind it. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves when one more request may begin. @throws the reason of the signal */
  async begin(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const pause = this.#notBefore - performance.now();
      if (pause > 0) await sleep(pause, signal);
      else if (this.#running < Math.max(1, Math.floor(this.#allowed))) break;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
  }

  /** To be called when a request ended, however it did. */
  end(): void {
    this.#running--;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Akin took a request. */
  taken(): void {
    this.#wait = FIRST_WAIT_MILLISECONDS;
    this.#allowed = Math.min(this.#most, this.#allowed + 1);
  }

  /** Akin asks for a pause, or does not answer. */
  refused(retryAfterSeconds: number | undefined): void {
    // Several that were under way get the same answer at once: that is one refusal.
    if (performance.now() < this.#notBefore) return;
    this.#allowed = Math.max(1, this.#allowed / 2);
    this.#notBefore = performance.now() + (retryAfterSeconds === undefined ? this.#wait : retryAfterSeconds * 1_000);
    this.#wait = Math.min(LONGEST_WAIT_MILLISECONDS, this.#wait * 2);
  }
}
