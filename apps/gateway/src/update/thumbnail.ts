import { AkinError } from '@akin/domain';
import type { Context } from '../context.ts';

/** The longer side of a stored thumbnail, in pixels. */
const SIDE = 256;

/**
 * The stored form of a thumbnail that came with a document: unchanged if it is a small WebP, as akin makes them, else
 * converted. Only the header of a small one is read, so that indexing many costs nothing.
 *
 * @throws AkinError about a thumbnail that is not a picture, or is truncated
 */
export async function normalizeThumbnail(
  bytes: Uint8Array,
  { makeThumbnail }: Pick<Context, 'makeThumbnail'>,
): Promise<Uint8Array> {
  const size = webpSize(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (size !== undefined && Math.max(...size) <= SIDE) return bytes;
  try {
    return await makeThumbnail(bytes);
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    throw new AkinError(error.code, `the thumbnail cannot be used: ${error.message}`, { cause: error });
  }
}

/** Width and height of a complete WebP. Undefined for anything else (RFC 9649, sections 2.5 to 2.7). */
function webpSize(bytes: Buffer): readonly [width: number, height: number] | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  if (bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
    }
    case 'VP8X':
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
}
