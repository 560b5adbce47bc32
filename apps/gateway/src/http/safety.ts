import type { IncomingMessage } from 'node:http';
import { AkinError } from '@akin/domain';

/*
 * A server on loopback without keys is open to every web page that its user visits: a page can send requests there
 * (forms, images, fetch without reading the answer), and by DNS rebinding even pass for the same origin. So
 *  - Host must be a name of this machine (rebinding shows the attacker's name),
 *  - a request that can change something must not come from a page of another origin, unless the origin was named,
 *  - a body that changes something needs a content type (the frame of each endpoint sees to that).
 */

export interface SafetyConfig {
  /** Whether only this machine can connect. Host is checked then. */
  readonly loopback: boolean;
  /** Further names in Host, for a proxy in front. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may do everything; `*` for any. */
  readonly corsOrigins: readonly string[];
}

const LOOPBACK_ADDRESSES = ['localhost', '::1', '0:0:0:0:0:0:0:1'];

/** Whether listening there lets only this machine in. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return LOOPBACK_ADDRESSES.includes(name) || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name);
}

/** @throws AkinError forbidden when Host names another machine */
export function checkHost(request: IncomingMessage, config: SafetyConfig): void {
  if (!config.loopback) return;
  // Old programs that speak HTTP/1.0 name no host; browsers, which a rebound name would need, always do.
  if (request.headers.host === undefined && request.httpVersion === '1.0') return;
  const host = hostName(request.headers.host ?? '');
  if (isLoopback(host) || config.allowedHosts.includes(host)) return;
  throw new AkinError(
    'forbidden',
    'This akin serves its own machine: ask for localhost, or name the host to allow (--allowed-hosts).',
  );
}

/**
 * @param changes whether the request can change something
 * @throws AkinError forbidden when a page of an origin that was not named sends such a request
 */
export function checkOrigin(request: IncomingMessage, changes: boolean, config: SafetyConfig): void {
  if (!changes) return;
  const { origin } = request.headers;
  const foreign =
    origin === undefined
      ? /^(cross-site|same-site)$/i.test(String(request.headers['sec-fetch-site'] ?? ''))
      : isForeign(origin, config, request);
  if (foreign) {
    throw new AkinError(
      'forbidden',
      'Pages of another origin may not send this: name the origin (--cors) to allow it.',
    );
  }
}

/** Whether an origin is neither named by the configuration nor, where there is a request, its own. */
export function isForeign(origin: string, config: SafetyConfig, request?: IncomingMessage): boolean {
  const isNamed = config.corsOrigins.includes('*') || config.corsOrigins.includes(origin);
  return !isNamed && !(request !== undefined && isOwnOrigin(origin, request));
}

/** The scheme may differ behind a proxy that ends TLS. */
function isOwnOrigin(origin: string, request: IncomingMessage): boolean {
  const host = request.headers.host?.toLowerCase();
  return host !== undefined && origin.toLowerCase().replace(/^https?:\/\//, '') === host;
}

/** The name in a Host header, without its port and brackets. */
function hostName(header: string): string {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.exec(header.trim()) ?? [];
  return name
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
