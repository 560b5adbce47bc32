import { AkinError } from '@akin/domain';
import type { NextFunction, Request, Response } from 'express';

/** What tells how the process is, and must answer when nothing else does. */
export const OF_THE_PROCESS = /^\/(health\/|metrics$)/;

/** Turns requests away while so many others are open: each holds a little memory, and all of them hold much. */
export function limitOpen(most: number): (request: Request, response: Response, next: NextFunction) => void {
  let open = 0;
  return (request, response, next) => {
    if (OF_THE_PROCESS.test(request.path)) return next();
    if (open >= most) {
      throw new AkinError('unavailable', 'Too many requests are open: try again in a moment.', {
        retryAfterSeconds: 2,
      });
    }
    open++;
    response.on('close', () => {
      open--;
    });
    next();
  };
}
