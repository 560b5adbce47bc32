import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/*
 * A key as it is sent: `akin_<id>_<secret>`. The beginning tells people, log filters and scanners of repositories what
 * it is; the id finds its row and may stand in logs; the secret is 256 random bits. Nobody can guess those or try them
 * all, be the hash as fast as it may: a slow hash, as for passwords, would only cost each request its time.
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

/** The parts of a key; undefined for any other text. */
export function readKeyText(text: string): KeyText | undefined {
  const [, id, secret] = KEY.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Whether it is the secret behind a hash, in a time that does not tell how much of it is right. */
export function isSecretOf(hash: Uint8Array, secret: string): boolean {
  const mine = hashOf(secret);
  return mine.length === hash.length && timingSafeEqual(mine, hash);
}

function hashOf(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest();
}
