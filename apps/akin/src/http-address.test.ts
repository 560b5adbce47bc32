import { describe, expect, it } from '@jest/globals';
import { describeAddress, httpAddress, urlOnThisMachine } from './http-address.ts';

describe('the URL of a server', () => {
  it('may come without a scheme, and with slashes at its end', () => {
    const given = ['localhost:9000', '127.0.0.1:9000/', '[::1]:9000', 'http://a.example//', 'https://a.example/akin/'];
    expect(given.map((text) => httpAddress('url', text))).toEqual([
      'http://localhost:9000',
      'http://127.0.0.1:9000',
      'http://[::1]:9000',
      'http://a.example',
      'https://a.example/akin',
    ]);
  });

  it.each(['ftp://a.example', ':9000', 'a b', 'http://'])('is not %j', (text) => {
    expect(() => httpAddress('url', text)).toThrow(`--url ${text} is not an http URL.`);
  });
});

describe('where akin answers', () => {
  const of = (address: string, family: 'IPv4' | 'IPv6', internal = false) =>
    ({ address, family, internal, netmask: '', mac: '', cidr: null, scopeid: 0 }) as never;
  const interfaces = {
    lo: [of('127.0.0.1', 'IPv4', true)],
    eth0: [of('192.168.1.5', 'IPv4'), of('fe80::1', 'IPv6')],
    wifi: [of('10.0.0.7', 'IPv4')],
    none: undefined,
  };

  it.each([
    ['http://127.0.0.1:8983', 'http://127.0.0.1:8983/'],
    ['http://10.0.0.0:8983', 'http://10.0.0.0:8983/'],
    ['http://0.0.0.0:80', 'http://127.0.0.1:80/ (in the network: http://192.168.1.5:80/, http://10.0.0.7:80/)'],
    ['http://[::]:8983', 'http://[::1]:8983/ (in the network: http://192.168.1.5:8983/, http://10.0.0.7:8983/)'],
  ])('is said of %s so that people can open it', (url, text) => {
    expect(describeAddress(url, interfaces)).toBe(text);
    expect(text.startsWith(`${urlOnThisMachine(url)}/`)).toBe(true);
  });

  it('is on this machine alone if it is in no network', () => {
    expect(describeAddress('http://0.0.0.0:1', { lo: interfaces.lo })).toBe('http://127.0.0.1:1/');
  });
});
