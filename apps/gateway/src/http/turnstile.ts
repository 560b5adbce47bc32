import { AkinError } from '@akin/domain';
import { Slots } from '@akin/runtime';

export interface TurnstileLimits {
  readonly atATime: number;
  /** Who comes when so many wait is turned away. */
  readonly waiting: number;
  /** Who waits longer is turned away. */
  readonly milliseconds: number;
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Lets only so many requests do something costly at a time. The others wait in the order in which they came; what would
 * have to wait long is told at once to come again, so that neither memory nor the wait of those inside grows.
 */
export class Turnstile {
  readonly #slots: Slots;
  readonly #limits: TurnstileLimits;
  readonly #what: string;

  /** @param what too many of which there are, for the message: "searches" */
  constructor(what: string, limits: TurnstileLimits) {
    this.#slots = new Slots(limits.atATime);
    this.#limits = limits;
    this.#what = what;
  }

  /**
   * @returns what gives the place back, to be called once
   * @throws AkinError too-many-requests; the signal's reason when it aborts before
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (!this.#slots.hasRoom && this.#slots.waiting >= this.#limits.waiting) throw this.#refusal();
    const tooLong = new AbortController();
    const timer = setTimeout(() => tooLong.abort(this.#refusal()), this.#limits.milliseconds);
    try {
      return await this.#slots.enter(false, AbortSignal.any([signal, tooLong.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  async run<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    const leave = await this.enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  #refusal(): AkinError {
    return new AkinError('too-many-requests', `Too many ${this.#what} are at work: try again in a moment.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
