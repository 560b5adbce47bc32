import type { Filter } from './filter.ts';

/** What a search token allows: part of what its key allows. */
export interface SearchTokenOptions {
  /** A query: only documents that match it, and the filter of the key, are seen. Escape values with `filter`. */
  filter: string | Filter;
  /** When it ends. It also ends with its key. */
  expires: Date;
}

/**
 * Makes a search token of a key, without asking akin: a text that is sent like a key. It allows searches in the
 * documents that match its filter, until it expires or its key is revoked. Make it on a server: the key stays secret.
 *
 * @param key of any scope; collections, origins and rate of the key hold for the token
 * @throws TypeError if it is not the text of a key, the filter is blank, or there is no such time
 */
export async function searchToken(key: string, { filter, expires }: SearchTokenOptions): Promise<string> {
  const [, id, secret] = /^akin_([0-9a-z]{12})_([0-9a-f]{64})$/.exec(key) ?? [];
  if (id === undefined || secret === undefined) throw new TypeError('A search token needs the text of a key: akin_…');
  const query = String(filter ?? '');
  if (query.trim() === '') throw new TypeError('The filter of a search token is blank.');
  const seconds = Math.floor(expires.getTime() / 1000);
  if (!(seconds >= 0)) throw new TypeError('The expiry of a search token is no time.');
  const text = new TextEncoder();
  const payload = base64url(text.encode(JSON.stringify({ filter: query, expires: seconds })));
  const signed = `akin_${id}.${payload}`;
  const { subtle } = globalThis.crypto;
  // akin stores only this hash of the secret, so it signs.
  const hash = await subtle.digest('SHA-256', text.encode(secret));
  const hmac = await subtle.importKey('raw', hash, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return `${signed}.${base64url(new Uint8Array(await subtle.sign('HMAC', hmac, text.encode(signed))))}`;
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}
