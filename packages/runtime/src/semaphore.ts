export interface SemaphoreOptions {
  /** The weight that one client may have of the capacity. Default: all. */
  readonly perClient?: number;
  /** Callers that may wait, all together and of one client. Further ones are refused. Default: any number. */
  readonly queued?: number;
  readonly queuedPerClient?: number;
  /** A caller that waits longer, or probably would, is refused. Default: none is. */
  readonly queueMilliseconds?: number;
  /**
   * Work that hangs loses its slot this time after its signal has aborted. Until then it keeps the slot, because it is
   * a load until it notices. Default: it keeps it.
   */
  readonly abandonedMilliseconds?: number;
  /** The error for callers that are refused. @param isShare whether only the share of the client is used up */
  readonly refusal?: (isShare: boolean) => Error;
}

export interface Caller {
  /** Undefined for akin itself, which may use all. */
  readonly client?: string | undefined;
  /** Goes before those that are not urgent. */
  readonly urgent?: boolean;
  /** Not negative; more than the capacity, or the share of the client, counts as that. Default: 1. */
  readonly weight?: number;
}

export interface Reservation {
  /**
   * Takes more, so that the caller has `total`; never less than before. Does not wait.
   *
   * @throws the error for refused callers, unless all others have nothing; the reason of the signal
   */
  growTo(total: number): void;
  release(): void;
}

interface Waiter {
  readonly client: string | undefined;
  readonly weight: number;
  readonly begin: () => void;
}

/** The share of the newest caller in the average time that slots are taken. */
const NEWEST = 1 / 8;

/**
 * Admits callers as long as the sum of their weights stays within the capacity. The others wait in the order of
 * arrival, urgent ones first, or are refused, so that neither memory nor latency grows. No caller overtakes a heavier
 * one of the same kind, so that this one gets its turn, but all overtake those of a client that has its share.
 */
export class Semaphore {
  readonly capacity: number;
  readonly #perClient: number;
  readonly #options: SemaphoreOptions;
  readonly #urgent = new Set<Waiter>();
  readonly #others = new Set<Waiter>();
  readonly #ofClients = new Map<string, number>();
  #taken = 0;
  /** How long slots are taken, in milliseconds, as a moving average. */
  #average = 0;

  constructor(capacity: number, options: SemaphoreOptions = {}) {
    this.capacity = capacity;
    this.#perClient = options.perClient ?? capacity;
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#urgent.size + this.#others.size;
  }

  /**
   * @returns a function that releases the weight. With the argument `rest`, this much stays taken: another call
   *   releases it
   * @throws the signal's reason if it aborts before the admission; the error for refused callers
   */
  async acquire(signal: AbortSignal, caller: Caller = {}): Promise<(rest?: number) => void> {
    signal.throwIfAborted();
    const { client, urgent = false } = caller;
    let held = Math.min(caller.weight ?? 1, Math.max(1, client === undefined ? this.capacity : this.#perClient));
    await this.#enter(urgent ? this.#urgent : this.#others, client, held, signal);
    const began = performance.now();
    const { abandonedMilliseconds } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const abandon = () => {
      timer = setTimeout(release, abandonedMilliseconds).unref();
    };
    if (abandonedMilliseconds !== undefined) signal.addEventListener('abort', abandon, { once: true });
    const release = (rest = 0) => {
      const given = held - Math.min(rest, held);
      held -= given;
      if (held === 0 && given > 0) {
        clearTimeout(timer);
        signal.removeEventListener('abort', abandon);
        this.#average += (performance.now() - began - this.#average) * NEWEST;
      }
      this.#add(client, -given);
      this.#admit();
    };
    return release;
  }

  /** Does some work in a slot. Parameters and errors as for {@link acquire}. */
  async run<Value>(signal: AbortSignal, caller: Caller, work: () => Promise<Value>): Promise<Value> {
    const release = await this.acquire(signal, caller);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** For a caller whose weight is known only by and by. @param signal afterwards it takes nothing more */
  open(signal: AbortSignal, client: string | undefined): Reservation {
    let own = 0;
    return {
      growTo: (total) => {
        signal.throwIfAborted();
        const more = total - own;
        if (more <= 0) return;
        const isAlone = this.#taken === own;
        if (!isAlone && this.#taken + more > this.capacity) throw this.#refusal(false);
        if (!isAlone && !this.#hasShare(client, more)) throw this.#refusal(true);
        this.#add(client, more);
        own = total;
      },
      release: () => {
        this.#add(client, -own);
        own = 0;
        this.#admit();
      },
    };
  }

  #enter(line: Set<Waiter>, client: string | undefined, weight: number, signal: AbortSignal): Promise<void> {
    const {
      queued = Number.POSITIVE_INFINITY,
      queuedPerClient = queued,
      queueMilliseconds = Number.POSITIVE_INFINITY,
    } = this.#options;
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        line.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const end = (reason: unknown) => {
        leave();
        reject(reason);
        // Lighter callers may have waited behind it.
        this.#admit();
      };
      const giveUp = () => end(signal.reason);
      const waiting: Waiter = {
        client,
        weight,
        begin() {
          leave();
          resolve();
        },
      };
      line.add(waiting);
      this.#admit();
      if (!line.has(waiting)) return;
      const ofClient = client === undefined ? 0 : [...line].filter((one) => one.client === client).length;
      const expected = (this.waiting * this.#average) / Math.max(1, this.capacity);
      const isFull = this.waiting > queued || expected > queueMilliseconds;
      if (isFull || ofClient > queuedPerClient) return end(this.#refusal(!isFull));
      if (queueMilliseconds < Number.POSITIVE_INFINITY)
        timer = setTimeout(() => end(this.#refusal(false)), queueMilliseconds);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #admit(): void {
    for (const line of [this.#urgent, this.#others]) {
      for (const next of line) {
        if (this.#taken + next.weight > this.capacity) return;
        if (!this.#hasShare(next.client, next.weight)) continue;
        this.#add(next.client, next.weight);
        next.begin();
      }
    }
  }

  #hasShare(client: string | undefined, weight: number): boolean {
    return client === undefined || (this.#ofClients.get(client) ?? 0) + weight <= this.#perClient;
  }

  #add(client: string | undefined, weight: number): void {
    this.#taken += weight;
    if (client === undefined) return;
    const now = (this.#ofClients.get(client) ?? 0) + weight;
    if (now > 0) this.#ofClients.set(client, now);
    else this.#ofClients.delete(client);
  }

  #refusal(isShare: boolean): Error {
    return this.#options.refusal?.(isShare) ?? new Error('there is no capacity');
  }
}
