/**
 * Counts the scans of a JPEG up to its end mark. Segments are skipped by their lengths, so the thumbnail in EXIF does
 * not count. Bytes between segments are skipped one by one, as the decoder does.
 */
export function countScans(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let scans = 0;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const code = bytes[at] === 0xff ? (bytes[at + 1] as number) : 0;
    if (code === 0xd9) break;
    if (code === 0xda) scans++;
    // 0xd0 to 0xd8 are marks without a length; lower codes and 0xff are pixels or padding.
    const isSegment = code >= 0xc0 && code !== 0xff && !(code >= 0xd0 && code <= 0xd8);
    at += isSegment ? 2 + view.getUint16(at + 2) : 1;
  }
  return scans;
}
