import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';

export interface Peer {
  readonly url: URL;
  readonly ip: string;
}

export interface PeerRequest {
  readonly method: 'GET' | 'POST';
  /** Path below the URL of the server, without a leading slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface PeerResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/**
 * Sends one HTTP request to one address of a server, and returns the whole response. `fetch` cannot connect to a given
 * address.
 *
 * @throws Error of the system, also if the response is truncated; the signal's reason when it aborts
 */
export async function send(peer: Peer, sending: PeerRequest): Promise<PeerResponse> {
  const { url, ip } = peer;
  const base = url.href.endsWith('/') ? url : new URL(`${url.href}/`);
  const { pathname, search } = new URL(sending.path, base);
  const options: RequestOptions = {
    host: ip,
    port: url.port || (url.protocol === 'https:' ? 443 : 80),
    path: pathname + search,
    method: sending.method,
    signal: sending.signal,
    headers: { ...sending.headers, host: url.host },
    // Certificates contain the name.
    ...(isIP(url.hostname.replace(/^\[|\]$/g, '')) ? {} : { servername: url.hostname }),
  };
  const response = await open(url.protocol === 'https:' ? https.request : http.request, options, sending.body ?? '');
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw sending.signal.aborted ? sending.signal.reason : error;
  }
  return {
    status: response.statusCode ?? 0,
    retryAfter: response.headers['retry-after'],
    text: Buffer.concat(chunks).toString('utf8'),
  };
}

function open(request: typeof http.request, options: RequestOptions, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (options.signal?.aborted) reject(options.signal.reason);
      // The server closed a kept connection at this moment. That says nothing about its health.
      else if (sent.reusedSocket && error.code === 'ECONNRESET') {
        open(request, { ...options, agent: false }, body).then(resolve, reject);
      } else reject(error);
    });
    sent.end(body);
  });
}
