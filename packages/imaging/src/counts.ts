import type { EncodedType } from './sniff.ts';

/**
 * Counts the scans of a JPEG up to its end marker. Segments are skipped by their lengths, so the thumbnail in EXIF does
 * not count. Bytes between segments are skipped one by one, as the decoder does.
 */
export function countScans(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let scans = 0;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const code = bytes[at] === 0xff ? (bytes[at + 1] as number) : 0;
    if (code === 0xd9) break;
    if (code === 0xda) scans++;
    // 0xd0 to 0xd8 are markers without a length; lower codes and 0xff are pixels or padding.
    const isSegment = code >= 0xc0 && code !== 0xff && !(code >= 0xd0 && code <= 0xd8);
    at += isSegment ? 2 + view.getUint16(at + 2) : 1;
  }
  return scans;
}

/**
 * Counts the frames of a GIF or the pages of a TIFF, up to one more than `limit`; 1 for other types. From the first
 * invalid block on, nothing is counted, as in the decoders.
 */
export function countFrames(type: EncodedType, bytes: Uint8Array, limit: number): number {
  if (type === 'gif') return countGifFrames(bytes, limit);
  if (type === 'tiff') return countTiffPages(bytes, limit);
  return 1;
}

function countGifFrames(bytes: Uint8Array, limit: number): number {
  /** Bytes of a color table, by the flags before it. */
  const tableBytes = (flags = 0) => (flags & 0x80 ? 6 << (flags & 7) : 0);
  let at = 13 + tableBytes(bytes[10]);
  const skipBlocks = () => {
    while (bytes[at]) at += 1 + (bytes[at] as number);
    at++;
  };
  for (let frames = 0; ; ) {
    if (frames > limit) return frames;
    if (bytes[at] === 0x21) {
      // The first block of an extension other than a comment may be empty.
      at += bytes[at + 1] === 0xfe ? 2 : 3 + (bytes[at + 2] ?? 0);
      skipBlocks();
    } else if (bytes[at] === 0x2c) {
      at += 11 + tableBytes(bytes[at + 9]);
      skipBlocks();
      if (at <= bytes.length) frames++;
    } else {
      return frames;
    }
  }
}

function countTiffPages(bytes: Uint8Array, limit: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const littleEndian = bytes[0] === 0x49;
  const big = view.getUint16(2, littleEndian) === 43;
  const offsetAt = (at: number) =>
    big ? Number(view.getBigUint64(at, littleEndian)) : view.getUint32(at, littleEndian);
  const pages = new Set<number>();
  try {
    // A directory that was read before ends the chain.
    for (let at = offsetAt(big ? 8 : 4); at > 0 && !pages.has(at) && pages.size <= limit; ) {
      const entries = big ? offsetAt(at) : view.getUint16(at, littleEndian);
      pages.add(at);
      at = offsetAt(at + (big ? 8 + entries * 20 : 2 + entries * 12));
    }
  } catch (error) {
    // The directory goes past the end of the file.
    if (!(error instanceof RangeError)) throw error;
  }
  return pages.size;
}
