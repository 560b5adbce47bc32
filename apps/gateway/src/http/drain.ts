import type { Server } from 'node:http';
import { AkinError } from '@akin/domain';
import type { NextFunction, Request, Response } from 'express';

export interface DrainTimes {
  /** How long requests are still served while `/health/ready` already answers 503. */
  readonly delayMilliseconds: number;
  /** How long open requests then have to end. */
  readonly openMilliseconds: number;
}

/** A request that gave up its wait has this time to send its answer. */
const LAST_ANSWER_MILLISECONDS = 500;

/**
 * The end of a server without lost requests: it says that it is not ready, goes on serving until load balancers know,
 * and closes its connections only then.
 */
export class Drain {
  readonly #times: DrainTimes;
  /** Requests that are open, each with what ends its work. */
  readonly #open = new Map<Response, AbortController>();
  #delay: Promise<void> | undefined;

  constructor(times: DrainTimes) {
    this.#times = times;
  }

  /** Express middleware that must see each request before its answer begins. */
  track(_request: Request, response: Response, next: NextFunction): void {
    const controller = new AbortController();
    this.#open.set(response, controller);
    if (this.#delay) response.setHeader('connection', 'close');
    response.on('close', () => {
      this.#open.delete(response);
      if (!response.writableFinished) controller.abort(gone());
    });
    next();
  }

  /** Ends when the client goes away, and when the server waits no longer for the answer. */
  signalOf(response: Response): AbortSignal {
    return this.#open.get(response)?.signal ?? AbortSignal.abort(gone());
  }

  /** @throws AkinError unavailable from the moment on that the server is to end */
  requireNotDraining(): void {
    if (this.#delay)
      throw new AkinError('unavailable', 'This process is shutting down: send the request to another one.', {
        retryAfterSeconds: 1,
      });
  }

  /** Begins the end, once. Resolves when load balancers had their time to notice. */
  begin(): Promise<void> {
    this.#delay ??= this.#wait();
    return this.#delay;
  }

  /** Takes no more connections, lets open requests end, and closes. */
  async close(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const closeIdle = () => setImmediate(() => server.closeIdleConnections());
    closeIdle();
    for (const response of this.#open.keys()) response.on('close', closeIdle);
    const { openMilliseconds } = this.#times;
    const timers = [
      setTimeout(() => this.#giveUp(), Math.max(0, openMilliseconds - LAST_ANSWER_MILLISECONDS)),
      setTimeout(() => server.closeAllConnections(), openMilliseconds),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
  }

  async #wait(): Promise<void> {
    // A client that keeps its connections goes to another process with its next request.
    for (const response of this.#open.keys()) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    const { delayMilliseconds } = this.#times;
    if (delayMilliseconds > 0) await new Promise((resolve) => setTimeout(resolve, delayMilliseconds));
  }

  #giveUp(): void {
    const reason = new AkinError(
      'unavailable',
      'akin is shutting down before the answer is ready: send the request again.',
      {
        retryAfterSeconds: 1,
      },
    );
    for (const controller of this.#open.values()) controller.abort(reason);
  }
}

function gone(): AkinError {
  return new AkinError('bad-request', 'The client went away.');
}
