import { AkinError } from '@akin/domain';

/** What hears the signal has this time to say more than its reason does. */
const LAST_WORDS_MILLISECONDS = 200;

/**
 * How long one request may last. Its signal ends every wait of the request, for its body, a slot, the database or an
 * analysis, so that nothing which the request holds can be held for ever.
 */
export class Lifetime {
  readonly #controller = new AbortController();
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** Aborts when the client disconnects, when a deadline passes, and when the process no longer waits. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts a moment after `signal`: what still waits then does not hear it, and is given up. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  end(reason: AkinError): void {
    this.limit(undefined);
    this.#controller.abort(reason);
    setTimeout(() => this.#over.abort(this.signal.reason), LAST_WORDS_MILLISECONDS).unref();
  }

  /**
   * Sets the deadline of what comes next, in place of the one before.
   *
   * @param milliseconds from now; undefined: there is none
   */
  limit(milliseconds: number | undefined, late: () => AkinError = tooLate): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (milliseconds === undefined || this.signal.aborted) return;
    this.#timer = setTimeout(() => this.end(late()), milliseconds).unref();
  }
}

function tooLate(): AkinError {
  return new AkinError('unavailable', 'akin took too long for this request: try again later.');
}
