import { networkInterfaces } from 'node:os';
import { parseUrl } from '@akin/domain';
import { UsageError } from './options.ts';

/**
 * The URL of a server as a user writes it, also without `http://`. Slashes at the end are removed.
 * @throws {UsageError} if it is invalid
 */
export function httpAddress(option: string, text: string): string {
  const url = (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`).replace(/\/+$/, '');
  if (/^https?:\/\//i.test(url) && parseUrl(url) !== undefined) return url;
  throw new UsageError(`--${option} ${text} is not an http URL.`);
}

/** The URL by which this machine reaches akin. An address that stands for all of them is none to connect to. */
export function urlOnThisMachine(url: string): string {
  return url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
}

/** Where people open akin, as a text: if it listens on all addresses, on this machine and in its networks. */
export function describeAddress(url: string, interfaces = networkInterfaces()): string {
  const own = urlOnThisMachine(url);
  if (own === url) return `${url}/`;
  const addresses = Object.values(interfaces).flatMap((all = []) =>
    all.flatMap(({ address, family, internal }) => (internal || family !== 'IPv4' ? [] : [address])),
  );
  const others = addresses.map((address) => `${own.replace(/\/\/[^/]+(?=:\d+$)/, `//${address}`)}/`);
  return others.length === 0 ? `${own}/` : `${own}/ (in the network: ${others.join(', ')})`;
}
