import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { checkHost, checkOrigin, isLoopback } from './safety.ts';

const asking = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;
const local = { loopback: true, allowedHosts: ['pictures.example'], corsOrigins: ['https://shop.example'] };

describe('loopback', () => {
  it.each(['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST', '::1', '[::1]', 'akin.localhost'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '192.168.0.1', 'localhost.evil.example', '127.0.0.1.evil.example', 'evil.example', ''])(
    'is not %s',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

describe('Host', () => {
  it.each(['localhost:8983', '127.0.0.1', '[::1]:80', 'pictures.example', 'Pictures.Example:443', 'localhost.'])(
    'may be %s',
    (host) => {
      expect(() => checkHost(asking({ host }), local)).not.toThrow();
    },
  );

  it.each(['evil.example', 'evil.example:8983', 'localhost@evil.example', '', 'localhost evil', '192.168.0.7'])(
    'may not be %p on a server of this machine alone',
    (host) => {
      expect(() => checkHost(asking({ host }), local)).toThrow('serves its own machine');
    },
  );

  it('is not checked where everybody may connect', () => {
    expect(() => checkHost(asking({ host: 'evil.example' }), { ...local, loopback: false })).not.toThrow();
  });
});

describe('Origin', () => {
  const host = 'localhost:8983';

  it.each([
    {},
    { origin: 'http://localhost:8983' },
    { origin: 'https://shop.example' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])('lets %p change things', (headers) => {
    expect(() => checkOrigin(asking({ host, ...headers } as Record<string, string>), true, local)).not.toThrow();
  });

  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://localhost:8983.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('keeps %p from changing things, and lets it look', (headers) => {
    const request = asking({ host, ...headers } as Record<string, string>);
    expect(() => checkOrigin(request, true, local)).toThrow('another origin');
    expect(() => checkOrigin(request, false, local)).not.toThrow();
  });
});
