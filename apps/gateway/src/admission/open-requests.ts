import type { NextFunction, Request, Response } from 'express';
import { createOpenRequests } from './semaphores.ts';

/** Paths of health and metrics, which must answer even under overload. */
export const PROCESS_PATHS = /^\/(health\/|metrics$)/;

/**
 * Express middleware that refuses requests while too many others are open. One address may have only its share of them
 * open.
 */
export function limitOpenRequests(
  max: number,
  addressOf: (request: Request) => string,
): (request: Request, response: Response, next: NextFunction) => void {
  const open = createOpenRequests(max);
  const { signal } = new AbortController();
  return (request, response, next) => {
    if (PROCESS_PATHS.test(request.path)) return next();
    const reservation = open.open(signal, addressOf(request));
    reservation.growTo(1);
    response.on('close', reservation.release);
    next();
  };
}
