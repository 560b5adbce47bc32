import { type OpenSpan, openSpan } from '@akin/runtime';
import type { NextFunction, Request, Response } from 'express';
import { PROCESS_PATHS } from '../admission/open-requests.ts';

/** Methods in the names of spans. Other methods of clients do not get into names. */
const KNOWN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Creates a span of each request, which continues the trace of its `traceparent`. It contains the route and the outcome
 * of the request, never its URL, its parameters or its body.
 */
export function traceRequest(request: Request, response: Response, next: NextFunction): void {
  // Health checks and scrapes would be the majority of all spans.
  const span = PROCESS_PATHS.test(request.path) ? undefined : openRequestSpan(request, response);
  if (span === undefined) next();
  else span.run(next);
}

function openRequestSpan(request: Request, response: Response): OpenSpan | undefined {
  const method = KNOWN_METHODS.includes(request.method) ? request.method : '_OTHER';
  const span = openSpan(method === '_OTHER' ? 'HTTP' : method, () => ({
    kind: 'server',
    parent: request.get('traceparent') ?? null,
    tracestate: request.get('tracestate'),
    attributes: {
      'http.request.method': method,
      'url.scheme': 'http',
      'akin.request.id': String(response.getHeader('x-request-id')),
    },
  }));
  if (span === undefined) return undefined;
  response.locals.span = span;
  response.on('close', () => {
    const { statusCode } = response;
    span.set({ 'http.response.status_code': statusCode });
    if (statusCode >= 500) span.fail(String(statusCode));
    else if (!response.writableFinished) span.fail('client-gone');
    span.end();
  });
  return span;
}

/** Names the span of a request by its route, when it is known. */
export function nameSpan(request: Request, response: Response, endpoint: string): void {
  const { span } = response.locals as { span?: OpenSpan };
  const route = String(request.route?.path ?? '');
  span?.rename(`${request.method} ${route}`);
  span?.set({
    'http.route': route,
    'akin.endpoint': endpoint,
    'akin.collection': request.params.collection as string | undefined,
  });
}
