import type { Request, Response } from 'express';
import type { Gate } from '../access/gate.ts';

/**
 * Allows pages of named origins to read responses: the origins of the configuration, and those of keys. Without either
 * nothing is sent, and browsers refuse other pages. This does not decide whether a request may do what it asks for.
 *
 * @returns true if the request was a preflight and is answered
 */
export async function cors(request: Request, response: Response, gate: Gate): Promise<boolean> {
  response.vary('Origin');
  const { origin } = request.headers;
  if (origin === undefined || !(await gate.allowsOrigin(origin).catch(() => false))) return false;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', EXPOSED);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE');
  response.setHeader('access-control-allow-headers', ALLOWED);
  response.setHeader('access-control-max-age', '600');
  response.status(204).end();
  return true;
}

const EXPOSED = 'ETag, Retry-After, X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset';
const ALLOWED = 'Authorization, X-API-Key, Content-Type, Content-Encoding, X-Request-Id';
