import { utf8Length } from './text.ts';

/** Maximum bytes of the address of a picture. */
const MAX_ADDRESS_BYTES = 8 * 1024;

/**
 * What counts as the address of a picture, wherever one is sent: an absolute http or https URL without a user name or
 * password. Blanks around it do not count.
 *
 * @returns the address without these blanks, or what is wrong with the text, as the rest of a sentence
 */
export function readPictureAddress(text: string): { readonly address: string } | { readonly problem: string } {
  const address = text.trim();
  if (utf8Length(address) > MAX_ADDRESS_BYTES) return { problem: `has more than ${MAX_ADDRESS_BYTES} bytes` };
  if (!/^https?:\/\//i.test(address)) return { problem: 'must be absolute and begin with http:// or https://' };
  const url = parseUrl(address);
  if (url === undefined) return { problem: 'is invalid: check its host and port' };
  if (url.username || url.password) return { problem: 'has a user name or password in it: send one without' };
  return { address };
}

/**
 * Parses a URL. Does not use `URL.canParse`: in Node 20, that function refuses every URL with a letter such as ü as soon
 * as V8 has optimized its caller.
 *
 * @returns undefined for an invalid URL
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
