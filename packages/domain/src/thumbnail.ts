import { decodeBase64 } from './base64.ts';
import { AkinError } from './errors.ts';

/** Maximum bytes of a thumbnail that is sent with a document. */
const MAX_THUMBNAIL_BYTES = 100 * 1024;

/**
 * Decodes a thumbnail that was sent as base64 or as a data URI of any type.
 *
 * @throws AkinError bad-request when it is not base64; too-large; unsupported-image unless it is WebP, JPEG or PNG
 */
export function parseThumbnail(text: string): Uint8Array {
  const bytes = decodeBase64(text, MAX_THUMBNAIL_BYTES);
  const webp = startsWith(bytes, 'RIFF') && startsWith(bytes.subarray(8), 'WEBP');
  if (!webp && !startsWith(bytes, '\xff\xd8\xff') && !startsWith(bytes, '\x89PNG\r\n\x1a\n')) {
    throw new AkinError('unsupported-image', 'A thumbnail must be a WebP, JPEG or PNG.');
  }
  return bytes;
}

/** Encodes the bytes as base64 for `parseThumbnail`. */
export function formatThumbnail(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

function startsWith(bytes: Uint8Array, magic: string): boolean {
  for (let at = 0; at < magic.length; at++) if (bytes[at] !== magic.charCodeAt(at)) return false;
  return true;
}
