import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { checkHost, checkOrigin, isLoopback, readCorsOrigins, readHostNames } from './safety.ts';

const asking = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;
const local = {
  loopback: true,
  keyed: false,
  allowedHosts: ['pictures.example'],
  corsOrigins: ['https://shop.example'],
};
const open = { ...local, loopback: false };

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
    'may not be %p on a server that only this machine can reach',
    (host) => {
      expect(() => checkHost(asking({ host }), local)).toThrow('--allowed-hosts (AKIN_ALLOWED_HOSTS)');
    },
  );

  it.each([
    'localhost',
    'LocalHost.:8983',
    '192.168.0.7:8983',
    '8.8.8.8',
    '[::1]:8983',
    '[2001:DB8::7]:80',
    'PICTURES.example.:443',
  ])('may be %s on an open network: no name server can change its meaning', (host) => {
    expect(() => checkHost(asking({ host }), open)).not.toThrow();
  });

  it.each([
    'evil.example',
    'evil.example:8983',
    '192.168.0.7.evil.example',
    'localhost.evil.example',
    'pictures.example.evil.example',
    'akin',
    '127.0.0.1@evil.example',
    '127.0.0.1, evil.example',
    '[evil.example]:80',
    '192.168.0.7:80:80',
    '',
  ])('may not be %p on an open network', (host) => {
    expect(() => checkHost(asking({ host }), open)).toThrow('--allowed-hosts (AKIN_ALLOWED_HOSTS)');
  });

  it('counts, not other headers of a proxy or a page', () => {
    const headers = { host: 'evil.example', 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' };
    for (const config of [local, open]) expect(() => checkHost(asking(headers), config)).toThrow('"evil.example"');
  });

  it('may be missing only in HTTP/1.0', () => {
    const request = (httpVersion: string) => ({ headers: {}, httpVersion }) as unknown as IncomingMessage;
    for (const config of [local, open]) {
      expect(() => checkHost(request('1.0'), config)).not.toThrow();
      expect(() => checkHost(request('1.1'), config)).toThrow('--allowed-hosts');
    }
  });

  it('is not checked if keys are required', () => {
    for (const config of [local, open]) {
      expect(() => checkHost(asking({ host: 'any.example' }), { ...config, keyed: true })).not.toThrow();
    }
  });
});

describe('allowed hosts', () => {
  it('are names as browsers send them', () => {
    const given = [
      'Pictures.Example',
      'akin.lan:8983',
      'dotted.example.',
      'bücher.example',
      '[2001:DB8::7]',
      'my_host',
    ];
    expect(readHostNames(given)).toEqual([
      'pictures.example',
      'akin.lan',
      'dotted.example',
      'xn--bcher-kva.example',
      '2001:db8::7',
      'my_host',
    ]);
  });

  it.each(['https://akin.example', 'akin.example/', '*.example', '*', 'a b', '@', ':80'])('are not %p', (name) => {
    expect(() => readHostNames([name])).toThrow('--allowed-hosts');
  });
});

describe('origins of --cors', () => {
  it('are as browsers send them', () => {
    const given = [
      'https://Shop.Example/',
      'https://shop.example:443',
      'http://localhost:3000',
      'https://bücher.example',
      'capacitor://localhost/',
      'null',
      '*',
    ];
    expect(readCorsOrigins(given)).toEqual([
      'https://shop.example',
      'https://shop.example',
      'http://localhost:3000',
      'https://xn--bcher-kva.example',
      'capacitor://localhost',
      'null',
      '*',
    ]);
  });

  it.each([
    'shop.example',
    'localhost:3000',
    'https://shop.example/path',
    'https://*.shop.example',
    'https://a@b',
    'x y',
  ])('are not %p', (text) => {
    expect(() => readCorsOrigins([text])).toThrow('--cors');
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
  ])('allows %p to change data', (headers) => {
    expect(() => checkOrigin(asking({ host, ...headers } as Record<string, string>), true, local)).not.toThrow();
  });

  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://localhost:8983.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('allows %p to read, but not to change data', (headers) => {
    const request = asking({ host, ...headers } as Record<string, string>);
    expect(() => checkOrigin(request, true, local)).toThrow('another origin');
    expect(() => checkOrigin(request, false, local)).not.toThrow();
  });
});
