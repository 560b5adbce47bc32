/** `open`: left out. `half-open`: used again, and left out at its first failure. */
export type CircuitState = 'closed' | 'open' | 'half-open';

export interface CircuitTimes {
  /** How long a breaker stays open at first. The time doubles with each failed probe. */
  readonly openMilliseconds: number;
  readonly maxOpenMilliseconds: number;
}

/** This many failures in a row open a breaker. */
const FAILURES = 3;

/**
 * A circuit breaker: a peer that failed several times in a row is left out for a while, then probed, and used again
 * after a response to the probe. One success closes it.
 */
export class CircuitBreaker {
  readonly #times: CircuitTimes;
  readonly #onChange: (state: CircuitState, reason: string) => void;
  #state: CircuitState = 'closed';
  #failures = 0;
  #openMilliseconds: number;
  #probeAt = 0;
  #probing = false;

  constructor(times: CircuitTimes, onChange: (state: CircuitState, reason: string) => void) {
    this.#times = times;
    this.#openMilliseconds = times.openMilliseconds;
    this.#onChange = onChange;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openMilliseconds = this.#times.openMilliseconds;
    this.#become('closed', 'it answered');
  }

  /** @param opensAtOnce one failure is enough, for example if the peer hangs */
  failed(reason: string, opensAtOnce = false): void {
    this.#failures = opensAtOnce || this.#state === 'half-open' ? FAILURES : this.#failures + 1;
    if (this.#failures >= FAILURES && !this.isOpen) this.#open(reason);
  }

  /** Probes the peer if the breaker has been open long enough, unless a probe is running. Never rejects. */
  async probe(ask: () => Promise<unknown>): Promise<void> {
    if (!this.isOpen || this.#probing || performance.now() < this.#probeAt) return;
    this.#probing = true;
    try {
      await ask();
      if (this.isOpen) this.#become('half-open', 'it answered a health check');
    } catch (error) {
      if (this.isOpen) this.#open((error as Error).message);
    } finally {
      this.#probing = false;
    }
  }

  #open(reason: string): void {
    this.#probeAt = performance.now() + this.#openMilliseconds;
    this.#openMilliseconds = Math.min(this.#openMilliseconds * 2, this.#times.maxOpenMilliseconds);
    this.#become('open', reason);
  }

  #become(state: CircuitState, reason: string): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#onChange(state, reason);
  }
}
