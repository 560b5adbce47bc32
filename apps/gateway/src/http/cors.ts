import type { Request, Response } from 'express';
import { isNamedOrigin, type SafetyConfig } from './safety.ts';

/**
 * Lets pages of named origins read answers. Without named origins nothing is sent, and browsers keep other pages out.
 *
 * @returns true when the request was a preflight and is answered
 */
export function cors(request: Request, response: Response, safety: SafetyConfig): boolean {
  if (safety.corsOrigins.length === 0) return false;
  response.vary('Origin');
  const { origin } = request.headers;
  if (origin === undefined || !isNamedOrigin(origin, safety)) return false;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'ETag, Retry-After, X-Request-Id');
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE');
  response.setHeader('access-control-allow-headers', 'Authorization, Content-Type, Content-Encoding, X-Request-Id');
  response.setHeader('access-control-max-age', '600');
  response.status(204).end();
  return true;
}
