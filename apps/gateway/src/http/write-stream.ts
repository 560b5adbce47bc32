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
 * @throws the error of the result, after the connection was closed if the response has begun
 */
export async function writeStream(
  { status = 200, type, length, chunks, headers = {} }: StreamResult,
  request: Request,
  response: Response,
  access: Access,
): Promise<void> {
  response.statusCode = status;
  response.setHeader('content-type', type);
  // A stream without an end of its own ends with the gateway, which does not wait for reusable connections.
  if (length === undefined) response.setHeader('connection', 'close');
  else response.setHeader('content-length', length);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (request.method === 'HEAD') return void response.end();
  const end = () => response.destroy();
  const watch = setInterval(() => access.isValid().then((isValid) => isValid || end(), end), ACCESS_MILLISECONDS);
  // Also if the next piece never comes.
  response.once('close', () => clearInterval(watch));
  if (length === undefined) response.flushHeaders();
  let written = 0;
  try {
    for await (const chunk of chunks()) {
      if (response.destroyed) return;
      written += chunk.length;
      if (!response.write(chunk)) await untilWritable(response);
    }
  } catch (error) {
    // A truncated response must not look complete.
    if (response.headersSent) response.destroy();
    throw error;
  }
  // If a file has become shorter, the client must not wait for the rest.
  if (length !== undefined && written < length) response.destroy();
  else endResponse(response);
}

/** Resolves when the buffer has room, or the client is gone or was disconnected. */
function untilWritable(response: Response): Promise<void> {
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
