import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** As `fetch`: a server that sends and takes nothing for this long hangs. */
const SILENCE_MILLISECONDS = 300_000;

/**
 * As `fetch`, for bodies of bytes, which `fetch` copies twice: sending those of an import takes half the processor time.
 * The agents of Node keep connections, and use the proxy that NODE_USE_ENV_PROXY asks for.
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
  // It may break after the answer, when the server does not read the rest.
  request.on('error', () => undefined);
  request.on('timeout', () => request.destroy(new Error(`silent for ${SILENCE_MILLISECONDS / 1_000} seconds`)));
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const { statusCode = 500, statusMessage: statusText = '' } = answer;
  const { 'retry-after': retryAfter, location } = answer.headers;
  // `fetch` of Node 20 cannot send bytes again either.
  if (statusCode >= 300 && statusCode < 400) {
    const msg = `${url.origin} redirects to ${location ?? 'nowhere'}: give the URL of akin there with --url.`;
    return Response.json({ error: { msg } }, { status: statusCode, statusText });
  }
  // A status without a body may not have an empty one.
  const text = chunks.length === 0 ? null : Buffer.concat(chunks);
  return new Response(text, {
    status: statusCode,
    statusText,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
};
