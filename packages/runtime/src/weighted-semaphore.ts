interface Waiting {
  readonly weight: number;
  readonly begin: () => void;
}

/**
 * Lets callers in as long as their weights together stay within its capacity. The others wait in
 * the order in which they came, urgent ones first. Nobody passes another of the same kind, however light, so that a
 * heavy one gets its turn. One that is heavier than the capacity is let in alone.
 */
export class WeightedSemaphore {
  readonly #capacity: number;
  readonly #urgent = new Set<Waiting>();
  readonly #others = new Set<Waiting>();
  #taken = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether nobody is in. */
  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /** The weight of all who are in. */
  get taken(): number {
    return this.#taken;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Whether the lightest would not have to wait now. */
  get hasRoom(): boolean {
    return this.#taken < this.#capacity;
  }

  /**
   * Waits for a place.
   * @returns what gives it back, or all of it but a rest
   * @throws the signal's reason when it aborts before
   */
  async enter(urgent: boolean, signal: AbortSignal, weight = 1): Promise<(rest?: number) => void> {
    signal.throwIfAborted();
    let held = Math.min(weight, this.#capacity);
    const ahead = urgent ? this.#urgent.size : this.waiting;
    if (ahead === 0 && this.#taken + held <= this.#capacity) this.#taken += held;
    else await this.#wait(urgent ? this.#urgent : this.#others, held, signal);
    return (rest = 0) => {
      const kept = Math.min(rest, held);
      this.#taken -= held - kept;
      held = kept;
      this.#admit();
    };
  }

  #wait(line: Set<Waiting>, weight: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        line.delete(waiting);
        reject(signal.reason);
        // Lighter ones may have waited behind it.
        this.#admit();
      };
      const waiting: Waiting = {
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
        if (this.#taken + next.weight > this.#capacity) return;
        this.#taken += next.weight;
        line.delete(next);
        next.begin();
      }
    }
  }
}
