import type { LookupAddress } from 'node:dns';
import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { openTunnel, type Proxies, portOf, proxyFor } from './proxy.ts';

/** A header that one host gets. Its value may be a secret: it must not reach messages or logs. */
export interface HostHeader {
  /** Without brackets around an IPv6 address. */
  readonly host: string;
  /** Default: any port. */
  readonly port?: string;
  readonly name: string;
  readonly value: string;
}

/** How requests for pictures look, and which way they go. */
export interface RequestSettings {
  /** Default: `akin`. */
  readonly userAgent?: string;
  readonly headers?: readonly HostHeader[];
  readonly proxies?: Proxies;
}

/**
 * Sends a GET request for a picture over a connection of its own.
 *
 * @param addresses the checked addresses of the host; the connection goes to one of them
 * @param visited the URLs that redirected to this one
 */
export async function sendRequest(
  url: URL,
  addresses: readonly LookupAddress[],
  visited: readonly URL[],
  settings: RequestSettings,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    signal,
    headers: {
      'user-agent': settings.userAgent ?? 'akin',
      accept: 'image/jpeg,image/png,image/webp,image/*;q=0.9,*/*;q=0.5',
      'accept-encoding': 'identity',
      ...headersFor(url, visited, settings.headers ?? []),
    },
    ...(await connection(url, addresses, settings, signal)),
  };
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const sent = request(url, options, resolve).on('error', reject);
    // Without this listener, Node closes the connection and reports nothing.
    sent.on('upgrade', (response: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      resolve(response);
    });
    sent.end();
  });
}

async function connection(
  url: URL,
  addresses: readonly LookupAddress[],
  { proxies }: RequestSettings,
  signal: AbortSignal,
): Promise<RequestOptions> {
  const proxy = proxyFor(url, proxies);
  if (proxy === undefined) {
    return {
      // A new socket for each request: a reused one would bypass the check.
      agent: false,
      // Not called when the host is an IP address; that address has been checked.
      lookup: (_host, { all }, callback) => {
        const [first] = addresses as [LookupAddress];
        if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
    };
  }
  const socket = await openTunnel(proxy, addresses, portOf(url), signal);
  if (url.protocol === 'http:') return { createConnection: () => socket };
  const host = bareHost(url);
  return { createConnection: () => connect({ socket, host, ...(isIP(host) ? {} : { servername: host }) }) };
}

/**
 * The headers that the operator gives to the host of a URL. A redirect to another port of the same host, or from https
 * to http, gets only those whose entry names the port: otherwise who answers there would learn them.
 */
function headersFor(url: URL, visited: readonly URL[], headers: readonly HostHeader[]): Record<string, string> {
  const host = bareHost(url);
  const hasLeft = visited.some((earlier) => bareHost(earlier) === host && !isSameServer(earlier, url));
  const own = headers.filter(
    (entry) => entry.host === host && (entry.port === undefined ? !hasLeft : entry.port === portOf(url)),
  );
  return Object.fromEntries(own.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Whether a redirect stays on its server, or goes from http to https on the usual ports. */
function isSameServer(from: URL, to: URL): boolean {
  return from.origin === to.origin || (to.protocol === 'https:' && from.port === '' && to.port === '');
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
