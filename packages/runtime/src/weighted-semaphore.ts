interface Waiter {
  readonly weight: number;
  readonly begin: () => void;
}

/**
 * Admits callers as long as the sum of their weights stays within its capacity. The others wait in the order of
 * arrival, urgent ones first. No caller overtakes another one of the same kind, however light, so that a heavy one gets
 * its turn. A caller heavier than the capacity is admitted alone.
 */
export class WeightedSemaphore {
  readonly capacity: number;
  readonly #urgent = new Set<Waiter>();
  readonly #others = new Set<Waiter>();
  #taken = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Whether no caller is admitted. */
  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /** The sum of the weights of admitted callers. */
  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Whether the lightest caller would not have to wait now. */
  get hasCapacity(): boolean {
    return this.#taken < this.capacity;
  }

  /**
   * @param urgent whether this caller goes before those that are not urgent
   * @param weight not negative; more than the capacity counts as the capacity
   * @returns a function that releases the weight. With the argument `rest`, this much stays taken: another call
   *   releases it
   * @throws the signal's reason if it aborts before the admission
   */
  async acquire(urgent: boolean, signal: AbortSignal, weight = 1): Promise<(rest?: number) => void> {
    signal.throwIfAborted();
    let held = Math.min(weight, this.capacity);
    const ahead = urgent ? this.#urgent.size : this.waiting;
    if (ahead === 0 && this.#taken + held <= this.capacity) this.#taken += held;
    else await this.#wait(urgent ? this.#urgent : this.#others, held, signal);
    return (rest = 0) => {
      const kept = Math.min(rest, held);
      this.#taken -= held - kept;
      held = kept;
      this.#admit();
    };
  }

  #wait(line: Set<Waiter>, weight: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        line.delete(waiting);
        reject(signal.reason);
        // Lighter callers may have waited behind it.
        this.#admit();
      };
      const waiting: Waiter = {
        weight,
        begin() {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      line.add(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #admit(): void {
    for (const line of [this.#urgent, this.#others]) {
      for (const next of line) {
        if (this.#taken + next.weight > this.capacity) return;
        this.#taken += next.weight;
        line.delete(next);
        next.begin();
      }
    }
  }
}
