import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** A server that neither sends nor receives for this long hangs. The same time as for `fetch`. */
const SILENCE_MILLISECONDS = 300_000;

/**
 * As `fetch`, but with half of the processor time for the bodies of an import: `fetch` copies bytes twice. The agents
 * of Node keep connections alive, and use a proxy if NODE_USE_ENV_PROXY is set.
 */
export const upload: typeof fetch = async (input, init = {}) => {
  const { body, method, headers, signal } = init;
  const url = typeof input === 'string' ? new URL(input) : undefined;
  if (url === undefined || !(body instanceof Uint8Array)) return fetch(input, init);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, {
    method,
    timeout: SILENCE_MILLISECONDS,
    headers: { ...(headers as Record<string, string>), 'content-length': body.length },
    ...(signal ? { signal } : {}),
  });
  // The connection may break after the response, if the server does not read the rest of the body.
  request.on('error', () => undefined);
  request.on('timeout', () => request.destroy(new Error(`silent for ${SILENCE_MILLISECONDS / 1_000} seconds`)));
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const { statusCode = 500, statusMessage: statusText = '' } = response;
  const { 'retry-after': retryAfter, location } = response.headers;
  // A redirect is not followed, as with `fetch` of Node 20, which cannot send bytes again.
  if (statusCode >= 300 && statusCode < 400) {
    const msg = `${url.origin} redirects to ${location ?? 'nowhere'}: give the URL of akin there with --url.`;
    return Response.json({ error: { msg } }, { status: statusCode, statusText });
  }
  // For some statuses, `Response` refuses even an empty body.
  const text = chunks.length === 0 ? null : Buffer.concat(chunks);
  return new Response(text, {
    status: statusCode,
    statusText,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
};
