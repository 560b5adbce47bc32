import { createHmac, timingSafeEqual } from 'node:crypto';
import { AkinError, JsonNumber, JsonObject, type JsonValue, parseJson, withErrorContext } from '@akin/domain';
import { MAX_KEY_FILTER, parseKeyFilter } from './key-filter.ts';

/*
 * A search token: `akin_<id>.<payload>.<signature>`, which a client makes of a key without asking akin. The payload is
 * JSON in base64url: {"filter": …, "expires": seconds since 1970}. The signature is the HMAC-SHA256 of everything before
 * the last dot. Its key is the SHA-256 of the secret, because akin keeps only that.
 */

/** Base64url of 32 bytes. */
const SIGNATURE = /^[\w-]{43}$/;
/** A filter may be escaped in JSON, and base64 adds a third. */
const MAX_PAYLOAD = 8 * MAX_KEY_FILTER;
const TOKEN = /^akin_([0-9a-z]{12})\.([\w-]+)\.([\w-]+)$/;

interface TokenText {
  /** Id of the key that should have signed it. */
  readonly keyId: string;
  readonly payload: string;
  readonly signed: string;
  readonly signature: string;
}

interface ReadToken {
  readonly filter: string;
  readonly expiresAt: Date;
}

/** The parts of a token. Undefined for any other text. */
export function readTokenText(text: string): TokenText | undefined {
  const [, keyId, payload = '', signature = ''] = TOKEN.exec(text) ?? [];
  if (keyId === undefined || payload.length > MAX_PAYLOAD || !SIGNATURE.test(signature)) return undefined;
  return { keyId, payload, signed: text.slice(0, -signature.length - 1), signature };
}

/** Whether the key with a hash has signed a token, in constant time. */
export function isSignedBy(hash: Uint8Array, { signed, signature }: TokenText): boolean {
  const right = createHmac('sha256', hash).update(signed).digest();
  const sent = Buffer.from(signature, 'base64url');
  return sent.length === right.length && timingSafeEqual(sent, right);
}

/** Reads the payload of a token whose signature is right. @throws AkinError bad-request */
export function readSearchToken({ payload }: TokenText): ReadToken {
  return withErrorContext('token', () => {
    const members = readMembers(payload);
    const { filter, expires } = Object.fromEntries(members) as Readonly<Record<string, JsonValue | undefined>>;
    if (members.length !== 2 || typeof filter !== 'string' || !(expires instanceof JsonNumber)) throw contentError();
    if (!/^\d{1,11}$/.test(expires.text)) throw contentError();
    withErrorContext('filter', () => parseKeyFilter(filter));
    return { filter, expiresAt: new Date(Number(expires.text) * 1000) };
  });
}

function readMembers(payload: string): readonly (readonly [string, JsonValue])[] {
  let json: JsonValue;
  try {
    json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(payload, 'base64url')));
  } catch (cause) {
    throw contentError(cause);
  }
  if (!(json instanceof JsonObject)) throw contentError();
  return json.entries;
}

function contentError(cause?: unknown): AkinError {
  return new AkinError(
    'bad-request',
    'it must hold exactly "filter", a text, and "expires", a whole number of seconds since 1970',
    { cause },
  );
}
