import type { Server } from 'node:http';
import { AkinError, badRequest } from '@akin/domain';
import type { NextFunction, Request, Response } from 'express';
import { Lifetime } from './lifetime.ts';

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
  readonly #open = new Map<Response, Lifetime>();
  #delay: Promise<void> | undefined;

  constructor(times: DrainTimes) {
    this.#times = times;
  }

  /** Express middleware that must see each request before its response starts. */
  track(_request: Request, response: Response, next: NextFunction): void {
    const lifetime = new Lifetime();
    this.#open.set(response, lifetime);
    if (this.#delay) response.setHeader('connection', 'close');
    response.on('close', () => {
      this.#open.delete(response);
      lifetime.limit(undefined);
      if (!response.writableFinished) lifetime.end(clientGoneError());
    });
    next();
  }

  /** The lifetime has ended if the client is gone. */
  lifetimeOf(response: Response): Lifetime {
    const known = this.#open.get(response);
    if (known !== undefined) return known;
    const ended = new Lifetime();
    ended.end(clientGoneError());
    return ended;
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
    for (const lifetime of this.#open.values()) lifetime.end(reason);
  }
}

function clientGoneError(): AkinError {
  return badRequest('The client went away.');
}
