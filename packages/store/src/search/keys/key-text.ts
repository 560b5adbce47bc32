import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * A key as it is sent: `akin_<id>_<secret>`. The prefix tells people, log filters and secret scanners what it is. The
 * id finds its row and may be logged. The secret is 256 random bits. Nobody can guess it or try all values, however
 * fast the hash is: a slow hash, as for passwords, would only slow down each request.
 */

const KEY = /^akin_([0-9a-z]{12})_([0-9a-f]{64})$/;

export interface KeyText {
  readonly id: string;
  readonly secret: string;
}

export function makeKeyText(): { readonly id: string; readonly text: string; readonly hash: Uint8Array } {
  const id = randomBytes(6).toString('hex');
  const secret = randomBytes(32).toString('hex');
  return { id, text: `akin_${id}_${secret}`, hash: hashOf(secret) };
}

/** The parts of a key. Undefined for any other text. */
export function readKeyText(text: string): KeyText | undefined {
  const [, id, secret] = KEY.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Whether it is the secret of a hash, in constant time. */
export function isSecretOf(hash: Uint8Array, secret: string): boolean {
  const mine = hashOf(secret);
  return mine.length === hash.length && timingSafeEqual(mine, hash);
}

function hashOf(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
