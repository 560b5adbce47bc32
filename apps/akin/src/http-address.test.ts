import { describe, expect, it } from '@jest/globals';
import { httpAddress } from './http-address.ts';

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
