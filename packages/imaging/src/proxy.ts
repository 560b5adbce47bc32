import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The proxies between akin and the hosts of pictures. */
export interface Proxies {
  /** For URLs with `https:`. */
  readonly https?: URL;
  /** For URLs with `http:`. */
  readonly http?: URL;
  /** Hosts that need no proxy, as NO_PROXY lists them: names with their subdomains, addresses, networks, `*`. */
  readonly except?: readonly string[];
}

export function proxyFor(url: URL, proxies: Proxies | undefined): URL | undefined {
  const proxy = url.protocol === 'https:' ? proxies?.https : proxies?.http;
  return proxies?.except?.some((entry) => covers(entry.toLowerCase(), url)) ? undefined : proxy;
}

/** The port of a URL, given or by its scheme. */
export function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function covers(entry: string, url: URL): boolean {
  if (entry === '*') return true;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host)) {
    if (entry.includes('/')) return inNetwork(host, entry);
    if (entry.replace(/^\[|\]$/g, '') === host) return true;
  }
  const [, bare, port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? [];
  if (port !== undefined && port !== portOf(url)) return false;
  const name = (bare ?? '').replace(/^\*?\./, '');
  return name !== '' && (host === name || (!isIP(host) && host.endsWith(`.${name}`)));
}

function inNetwork(host: string, network: string): boolean {
  if (!ipaddr.isValidCIDR(network)) return false;
  const [address, range] = [ipaddr.parse(host), ipaddr.parseCIDR(network)];
  return address.kind() === range[0].kind() && address.match(range);
}

/**
 * A connection through a proxy, by CONNECT (RFC 9110, 9.3.6). It leads to an address, not to a name, because the proxy
 * could resolve the name to an address that was not checked.
 *
 * @throws ProxyError if the proxy refuses; the error of the connection to it
 */
export async function openTunnel(
  proxy: URL,
  addresses: readonly LookupAddress[],
  port: string,
  signal: AbortSignal,
): Promise<Socket> {
  const { address, family } = (addresses.find((one) => one.family === 4) ?? addresses[0]) as LookupAddress;
  const target = `${family === 6 ? `[${address}]` : address}:${port}`;
  const login = proxy.username || proxy.password ? `${decode(proxy.username)}:${decode(proxy.password)}` : undefined;
  const { request } = proxy.protocol === 'https:' ? https : http;
  const sent = request({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: portOf(proxy),
    method: 'CONNECT',
    path: target,
    headers: {
      host: target,
      ...(login === undefined ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    agent: false,
    signal,
  });
  return new Promise((resolve, reject) => {
    sent.on('error', (cause) => reject(signal.aborted ? cause : new ProxyError('does not answer', { cause })));
    sent.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
      if (statusCode >= 200 && statusCode < 300) {
        socket.unshift(head);
        return resolve(socket);
      }
      socket.destroy();
      reject(new ProxyError(`refused with status ${statusCode}`));
    });
    sent.end();
  });
}

/** The proxy is the reason why a picture was not fetched. The message completes "the proxy …". */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
