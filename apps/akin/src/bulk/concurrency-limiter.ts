import { sleep } from '@akin/runtime';

const FIRST_WAIT_MILLISECONDS = 500;
const LONGEST_WAIT_MILLISECONDS = 15_000;

/**
 * Limits the number of concurrent requests: half as many when akin says that it is overloaded, one more for each
 * accepted request (additive increase, multiplicative decrease: Chiu and Jain 1989).
 */
export class ConcurrencyLimiter {
  readonly #max: number;
  #allowed = 1;
  #running = 0;
  #notBefore = 0;
  #wait = FIRST_WAIT_MILLISECONDS;
  readonly #waiting: (() => void)[] = [];

  /** Starts with one request, so that the fields that it defines exist for the next ones. */
  constructor(max: number) {
    this.#max = max;
  }

  /** @throws the reason of the signal */
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

  /** Call this when a request has ended, with success or not. */
  end(): void {
    this.#running--;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  taken(): void {
    this.#wait = FIRST_WAIT_MILLISECONDS;
    this.#allowed = Math.min(this.#max, this.#allowed + 1);
  }

  /** Call this when akin asks for a pause, or does not answer. */
  refused(retryAfterSeconds: number | undefined): void {
    // Several concurrent requests get the same response at once: count it as one refusal.
    if (performance.now() < this.#notBefore) return;
    this.#allowed = Math.max(1, this.#allowed / 2);
    this.#notBefore = performance.now() + (retryAfterSeconds === undefined ? this.#wait : retryAfterSeconds * 1_000);
    this.#wait = Math.min(LONGEST_WAIT_MILLISECONDS, this.#wait * 2);
  }
}
