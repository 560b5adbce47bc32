import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/**
 * Whom requests are counted for that come without a key, or with one that many have: the address of the client, of IPv6
 * the network that one household or machine has.
 *
 * @param proxies how many proxies stand in front, each of which adds whom it got a request from to `X-Forwarded-For`.
 * Whatever stands there before their entries the client may have made up.
 */
export function clientAddress(request: IncomingMessage, proxies: number): string {
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  const chain = [...forwarded, request.socket.remoteAddress ?? ''];
  return networkOf(chain[Math.max(0, chain.length - 1 - proxies)] ?? '');
}

function networkOf(text: string): string {
  const address = text.replace(/^\[|\](:\d+)?$/g, '').replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(address)) return address.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').slice(0, 64);
  const [head = '', tail] = address.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
