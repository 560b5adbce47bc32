import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { AkinError, badRequest, parseUrl, quote } from '@akin/domain';

/*
 * A server without keys is open to every web page that its users visit: a page can send requests there (forms, images,
 * fetch without reading the response), and by DNS rebinding even pass for the same origin. So
 *  - Host must be a name that no foreign name server can point here: rebinding shows the attacker's name. Beyond
 *    loopback that is also any IP address, which no name server resolves.
 *  - a request that can change something must not come from a page of another origin, unless the origin was named,
 *  - a body that changes something needs a content type (checked before each endpoint).
 */

export interface SafetyConfig {
  readonly loopback: boolean;
  readonly keyed: boolean;
  /** Further names in Host, as {@link readHostNames} returns them. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may do everything, as {@link readCorsOrigins} returns them; `*` allows any. */
  readonly corsOrigins: readonly string[];
}

const LOOPBACK_ADDRESSES = ['localhost', '::1', '0:0:0:0:0:0:0:1'];

/** Whether only this machine can connect if akin listens there. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return LOOPBACK_ADDRESSES.includes(name) || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name);
}

/** Whether clients other than the user of this machine need no key: over the network, or through a proxy in front. */
export function isOpenToNetwork({ loopback, keyed, allowedHosts }: SafetyConfig): boolean {
  return !keyed && (!loopback || allowedHosts.length > 0);
}

/**
 * Names of hosts as browsers send them in Host.
 *
 * @throws AkinError bad-request for an invalid host name
 */
export function readHostNames(names: readonly string[]): string[] {
  return names.map((name) => {
    const host = hostName(name);
    if (isIP(host) !== 0) return host;
    if (/^[^/*?#\\]+$/.test(host) && domainToASCII(host) !== '') return domainToASCII(host);
    throw badRequest(
      `${quote(name)} is not a host name: write --allowed-hosts akin.example,pictures.example, without scheme or path.`,
    );
  });
}

/**
 * Origins as browsers send them in Origin: in lower case, without path and without the usual port of the scheme.
 * Apps have schemes of their own, and pages of files and sandboxes send `null`.
 *
 * @throws AkinError bad-request for a text that is no origin, and would never match
 */
export function readCorsOrigins(texts: readonly string[]): string[] {
  return texts.map((text) => {
    if (text === '*' || text === 'null') return text;
    const url = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\*]+\/?$/i.test(text) ? parseUrl(text) : undefined;
    if (url !== undefined) {
      const { origin } = url;
      return origin === 'null' ? text.replace(/\/$/, '').toLowerCase() : origin;
    }
    throw badRequest(
      `${quote(text)} is not an origin: write --cors https://shop.example,http://localhost:3000, with scheme and without path.`,
    );
  });
}

/** @throws AkinError forbidden if Host is a name that a foreign name server may have pointed here */
export function checkHost(request: IncomingMessage, config: SafetyConfig): void {
  // A page that uses DNS rebinding has no key. A proxy in front may pass on any name.
  if (config.keyed) return;
  // Old programs with HTTP/1.0 send no host. Browsers, which a rebinding attack needs, always do.
  if (request.headers.host === undefined && request.httpVersion === '1.0') return;
  const sent = request.headers.host ?? '';
  const host = hostName(sent);
  if (isLoopback(host) || config.allowedHosts.includes(host)) return;
  if (!config.loopback && isIP(host) !== 0) return;
  const others = config.loopback ? 'localhost' : 'localhost and IP addresses';
  throw new AkinError(
    'forbidden',
    `The host ${quote(sent)} is not allowed: akin answers to ${others}, and to the names in --allowed-hosts (AKIN_ALLOWED_HOSTS).`,
  );
}

/**
 * @param changes whether the request can change something
 * @throws AkinError forbidden if a page of an origin that was not named sends such a request
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

/** Whether an origin is neither named by the configuration nor the request's own origin. */
export function isForeign(origin: string, config: SafetyConfig, request?: IncomingMessage): boolean {
  const isNamed = config.corsOrigins.includes('*') || config.corsOrigins.includes(origin);
  return !isNamed && !(request !== undefined && isOwnOrigin(origin, request));
}

/**
 * The pages that may embed responses without CORS, as `<img>` does with thumbnails: pages of the own origin, or all
 * pages if the configuration lets every origin read. Otherwise a foreign page could find out with `<img>` which
 * documents a local akin has, and show their pictures. Such a request does not contain its origin, so pages of a named
 * origin must use CORS: `<img crossorigin>`, or fetch with a key.
 */
export function resourcePolicy({ corsOrigins }: SafetyConfig): 'same-origin' | 'cross-origin' {
  return corsOrigins.includes('*') ? 'cross-origin' : 'same-origin';
}

/** The scheme may differ behind a proxy that terminates TLS. */
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
