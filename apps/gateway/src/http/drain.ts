import type { Server } from 'node:http';
import { AkinError } from '@akin/domain';
import type { NextFunction, Request, Response } from 'express';

export interface DrainTimes {
  /** How long requests are still served while `/health/ready` already answers 503. */
  readonly delayMilliseconds: number;
  /** Time limit for open requests after that. */
  readonly openMilliseconds: number;
}

/** A request that stopped waiting has this time to send its response. */
const LAST_RESPONSE_MILLISECONDS = 500;

/**
 * The shutdown of a server without lost requests: it reports that it is not ready, continues to serve until load
 * balancers know, and only then closes its connections.
 */
export class Drain {
  readonly #times: DrainTimes;
  /** Open requests, each with the controller of its signal. */
  readonly #open = new Map<Response, AbortController>();
  #delay: Promise<void> | undefined;

  constructor(times: DrainTimes) {
    this.#times = times;
  }

  /** Express middleware that must see each request before its response starts. */
  track(_request: Request, response: Response, next: NextFunction): void {
    const controller = new AbortController();
    this.#open.set(response, controller);
    if (this.#delay) response.setHeader('connection', 'close');
    response.on('close', () => {
      this.#open.delete(response);
      if (!response.writableFinished) controller.abort(clientGoneError());
    });
    next();
  }

  /** Aborts when the client disconnects, and when the server no longer waits for the response. */
  signalOf(response: Response): AbortSignal {
    return this.#open.get(response)?.signal ?? AbortSignal.abort(clientGoneError());
  }

  /** @throws AkinError unavailable as soon as the server is to end */
  requireNotDraining(): void {
    if (this.#delay)
      throw new AkinError('unavailable', 'This process is shutting down: send the request to another one.', {
        retryAfterSeconds: 1,
      });
  }

  /** Starts the shutdown, once. Resolves when load balancers had time to notice. */
  begin(): Promise<void> {
    this.#delay ??= this.#wait();
    return this.#delay;
  }

  /** Accepts no more connections, lets open requests end, and closes. */
  async close(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const closeIdle = () => setImmediate(() => server.closeIdleConnections());
    closeIdle();
    for (const response of this.#open.keys()) response.on('close', closeIdle);
    const { openMilliseconds } = this.#times;
    const timers = [
      setTimeout(() => this.#giveUp(), Math.max(0, openMilliseconds - LAST_RESPONSE_MILLISECONDS)),
      setTimeout(() => server.closeAllConnections(), openMilliseconds),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
  }

  async #wait(): Promise<void> {
    // Clients close keep-alive connections then, and send the next request to another process.
    for (const response of this.#open.keys()) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    const { delayMilliseconds } = this.#times;
    if (delayMilliseconds > 0) await new Promise((resolve) => setTimeout(resolve, delayMilliseconds));
  }

  #giveUp(): void {
    const reason = new AkinError(
      'unavailable',
      'akin is shutting down before the response is ready: send the request again.',
      {
        retryAfterSeconds: 1,
      },
    );
    for (const controller of this.#open.values()) controller.abort(reason);
  }
}

function clientGoneError(): AkinError {
  return new AkinError('bad-request', 'The client went away.');
}
