import { decodeBase64 } from './base64.ts';
import { AkinError } from './errors.ts';

/** The most bytes that a thumbnail sent with a document may have. */
const MAX_THUMBNAIL_BYTES = 100 * 1024;

/**
 * The bytes of a thumbnail sent as base64 or as a data URI, whatever type the URI declares.
 *
 * @throws AkinError bad-request for what is not base64; too-large; unsupported-image unless WebP, JPEG or PNG
 */
export function parseThumbnail(text: string): Uint8Array {
  const bytes = decodeBase64(text, MAX_THUMBNAIL_BYTES);
  const webp = startsWith(bytes, 'RIFF') && startsWith(bytes.subarray(8), 'WEBP');
  if (!webp && !startsWith(bytes, '\xff\xd8\xff') && !startsWith(bytes, '\x89PNG\r\n\x1a\n')) {
    throw new AkinError('unsupported-image', 'A thumbnail must be a WebP, JPEG or PNG.');
  }
  return bytes;
}

/** The bytes as base64, which `parseThumbnail` reads. */
export function formatThumbnail(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

function startsWith(bytes: Uint8Array, magic: string): boolean {
  for (let at = 0; at < magic.length; at++) if (bytes[at] !== magic.charCodeAt(at)) return false;
  return true;
}
