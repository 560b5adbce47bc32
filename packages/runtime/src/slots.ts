interface Waiting {
  readonly begin: () => void;
}

/** Lets only so many in at a time. The others wait in the order in which they came, urgent ones first. */
export class Slots {
  readonly #most: number;
  readonly #urgent = new Set<Waiting>();
  readonly #others = new Set<Waiting>();
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether nobody is in. */
  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /** Whether nobody has to wait now. */
  get hasRoom(): boolean {
    return this.#taken < this.#most;
  }

  /**
   * Waits for a place.
   * @returns what gives it back, to be called once
   * @throws the signal's reason when it aborts before
   */
  async enter(urgent: boolean, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) this.#taken++;
    // Whoever leaves hands its place over.
    else await this.#wait(urgent ? this.#urgent : this.#others, signal);
    return () => {
      const [next] = this.#urgent.size > 0 ? this.#urgent : this.#others;
      if (next === undefined) this.#taken--;
      else next.begin();
    };
  }

  #wait(line: Set<Waiting>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        line.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        begin() {
          line.delete(waiting);
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      line.add(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
