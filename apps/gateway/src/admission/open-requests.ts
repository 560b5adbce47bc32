import { AkinError } from '@akin/domain';
import type { NextFunction, Request, Response } from 'express';
import { fairShareOf } from './fair-share.ts';

/** Paths of health and metrics, which must answer even under overload. */
export const PROCESS_PATHS = /^\/(health\/|metrics$)/;

/**
 * Express middleware that refuses requests while too many others are open, because each needs some memory. One address
 * may have only its share of them open.
 */
export function limitOpenRequests(
  max: number,
  addressOf: (request: Request) => string,
): (request: Request, response: Response, next: NextFunction) => void {
  let open = 0;
  const ofAddresses = new Map<string, number>();
  return (request, response, next) => {
    if (PROCESS_PATHS.test(request.path)) return next();
    if (open >= max) {
      throw new AkinError('unavailable', 'Too many requests are open: try again in a moment.', {
        retryAfterSeconds: 2,
      });
    }
    const address = addressOf(request);
    const own = (ofAddresses.get(address) ?? 0) + 1;
    if (own > fairShareOf(max)) {
      throw new AkinError(
        'too-many-requests',
        `More than ${own - 1} requests from this address are open: wait until some of them end.`,
        {
          retryAfterSeconds: 2,
        },
      );
    }
    open++;
    ofAddresses.set(address, own);
    response.on('close', () => {
      open--;
      const left = (ofAddresses.get(address) ?? 0) - 1;
      if (left > 0) ofAddresses.set(address, left);
      else ofAddresses.delete(address);
    });
    next();
  };
}
