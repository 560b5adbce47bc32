import { AkinError } from '@akin/domain';
import { fairShareOf } from './fair-share.ts';

export interface SemaphoreLimits {
  readonly concurrent: number;
  /** Requests that may wait. Further ones are refused. */
  readonly queued: number;
  /** A request that waits longer, or probably would, is refused. */
  readonly queueMilliseconds: number;
  /** Whether one client may take only its share of the slots and of the queue. */
  readonly fair?: boolean;
}

const RETRY_AFTER_SECONDS = 2;
/** The share of the newest slot in the average time that slots are taken. */
const NEWEST = 1 / 8;
/**
 * Work keeps its slot after its signal has aborted, because it is a load until it notices. Work that hangs loses the
 * slot after this time.
 */
const GIVE_UP_MILLISECONDS = 60_000;

interface Waiter {
  readonly client: string | undefined;
  readonly begin: () => void;
}

/**
 * Limits how many requests do expensive work at a time. The others wait in the order of arrival. A request is refused at
 * once when the queue is full, or so long that it would probably wait too long, so that neither memory nor latency
 * grows. A fair semaphore gives one client only its share of the slots and of the queue, and other clients overtake its
 * waiting requests.
 */
export class Semaphore {
  readonly #limits: SemaphoreLimits;
  readonly #what: string;
  readonly #takenBy = new Map<string | undefined, number>();
  readonly #waiting = new Set<Waiter>();
  #taken = 0;
  /** How long slots are taken, in milliseconds, as a moving average. */
  #average = 0;

  /** @param what the plural noun for the message, for example "searches" */
  constructor(what: string, limits: SemaphoreLimits) {
    this.#what = what;
    this.#limits = limits;
  }

  /**
   * Takes a slot, or waits for one.
   *
   * @param client undefined for akin itself, which may use all slots
   * @param signal that of the request. The slot is released some time after it aborts, whatever happens
   * @returns a function that releases the slot
   * @throws AkinError too-many-requests if the semaphore is fair, else unavailable; the reason of `signal` if that
   * aborts before
   */
  async acquire(client: string | undefined, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#hasCapacity(client)) this.#take(client);
    else await this.#wait(client, signal);
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const giveUp = () => {
      timer = setTimeout(release, GIVE_UP_MILLISECONDS).unref();
    };
    let isTaken = true;
    const release = () => {
      if (!isTaken) return;
      isTaken = false;
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      this.#average += (performance.now() - began - this.#average) * NEWEST;
      this.#release(client);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    return release;
  }

  /** Does some work in a slot. Parameters and errors as for {@link acquire}. */
  async run<Value>(client: string | undefined, signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const release = await this.acquire(client, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #hasCapacity(client: string | undefined): boolean {
    const { concurrent } = this.#limits;
    return this.#taken < concurrent && (this.#takenBy.get(client) ?? 0) < this.#shareOf(client, concurrent);
  }

  #shareOf(client: string | undefined, slots: number): number {
    return this.#limits.fair && client !== undefined ? fairShareOf(slots) : slots;
  }

  #take(client: string | undefined): void {
    this.#taken++;
    this.#takenBy.set(client, (this.#takenBy.get(client) ?? 0) + 1);
  }

  #release(client: string | undefined): void {
    this.#taken--;
    const left = (this.#takenBy.get(client) ?? 0) - 1;
    if (left > 0) this.#takenBy.set(client, left);
    else this.#takenBy.delete(client);
    for (const next of this.#waiting) {
      if (!this.#hasCapacity(next.client)) continue;
      this.#take(next.client);
      next.begin();
      return;
    }
  }

  #wait(client: string | undefined, signal: AbortSignal): Promise<void> {
    const { concurrent, queued: slots, queueMilliseconds } = this.#limits;
    const own = [...this.#waiting].filter((one) => one.client === client).length;
    const expected = ((this.#waiting.size + 1) * this.#average) / Math.max(1, concurrent);
    const isFull = this.#waiting.size >= slots || own >= this.#shareOf(client, slots);
    if (isFull || expected > queueMilliseconds) throw this.#refusal();
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(waiting);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = () => {
        end();
        reject(signal.reason);
      };
      const waiting: Waiter = {
        client,
        begin() {
          end();
          resolve();
        },
      };
      const timer = setTimeout(() => {
        end();
        reject(this.#refusal());
      }, queueMilliseconds);
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #refusal(): AkinError {
    // Where clients have shares, one of them may send too many. Otherwise akin is overloaded.
    const code = this.#limits.fair ? 'too-many-requests' : 'unavailable';
    return new AkinError(code, `Too many ${this.#what} are running: try again in a moment.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
