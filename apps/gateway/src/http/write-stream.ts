import type { Request, Response } from 'express';
import type { Access } from '../access/gate.ts';
import { CLIENT_READ_TIMEOUT_MILLISECONDS, endResponse } from './end-response.ts';
import type { StreamResult } from './handler-result.ts';

/** Interval of the check whether the key of the request is still valid. */
const ACCESS_MILLISECONDS = 2_000;

/**
 * Writes a result piece by piece, and resolves at its end. The next piece is made only when the buffer of the response
 * has room. Ends early when the key of the request is no longer valid.
 *
 * @throws the error of the result, after the connection was closed
 */
export async function writeStream(
  result: StreamResult,
  request: Request,
  response: Response,
  access: Access,
): Promise<void> {
  response.statusCode = 200;
  response.setHeader('content-type', result.type);
  // The stream ends with the gateway, which does not wait for reusable connections.
  response.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value);
  const end = () => response.destroy();
  const watch = setInterval(() => access.isValid().then((isValid) => isValid || end(), end), ACCESS_MILLISECONDS);
  // Also if the next piece never comes.
  response.once('close', () => clearInterval(watch));
  try {
    if (request.method === 'HEAD') return;
    response.flushHeaders();
    for await (const text of result.events) {
      if (response.destroyed) return;
      if (response.write(text)) continue;
      await untilWritable(response);
    }
    endResponse(response);
  } catch (error) {
    // A truncated response must not look complete.
    response.destroy();
    throw error;
  } finally {
    await result.events.return(undefined);
    response.end();
  }
}

/** Resolves when the buffer has room, or the client is gone or was disconnected. */
export function untilWritable(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off('drain', done).off('close', done);
      resolve();
    };
    const timer = setTimeout(() => {
      response.destroy();
      done();
    }, CLIENT_READ_TIMEOUT_MILLISECONDS);
    response.on('drain', done).on('close', done);
  });
}
