import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/**
 * The client to count a request for, if it comes without a key or with a key that many people have: its IP address, or
 * for IPv6 the network of one household or machine.
 *
 * @param proxies number of proxies in front. Each adds the address of its client to `X-Forwarded-For`. A client may
 * have forged whatever is before their entries.
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
  if (!address.includes(':')) return address.slice(0, 64);
  if (!isIPv6(address)) return address.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1').slice(0, 64);
  const [head = '', tail] = address.toLowerCase().split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
