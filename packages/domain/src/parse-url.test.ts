import { expect, it } from '@jest/globals';
import { parseUrl } from './parse-url.ts';

it('parses absolute URLs, and relative ones with a base', () => {
  expect(parseUrl('https://Shop.example:443/a b')?.href).toBe('https://shop.example/a%20b');
  expect(parseUrl('../b.jpg', 'https://shop.example/c/d')?.href).toBe('https://shop.example/b.jpg');
  for (const text of ['', 'b.jpg', 'https://', 'http://a b/', 'http://[::1']) expect(parseUrl(text)).toBeUndefined();
});

it('parses URLs with other letters, however often', () => {
  const hosts = new Set<string | undefined>();
  // URL.canParse refused them after some thousand calls.
  for (let i = 0; i < 50_000; i++) hosts.add(parseUrl('https://bücher.example/ü.jpg')?.host);
  expect([...hosts]).toEqual(['xn--bcher-kva.example']);
});
