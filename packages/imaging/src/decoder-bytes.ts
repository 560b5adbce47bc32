import type { Metadata } from 'sharp';
import type { EncodedType } from './sniff.ts';

/** What is known about a picture before it is decoded. */
export interface EncodedImage {
  readonly type: EncodedType;
  readonly bytes: Uint8Array;
  readonly header: Metadata;
  /** Size of the decoded pixels. */
  readonly target: { readonly width: number; readonly height: number };
}

/** Maximum number of rows that libvips keeps while it reads a picture from top to bottom. */
const ROWS_KEPT = 2_048;
/** Fixed part: buffers of files and rows, and the small picture for the networks. */
const MIN_BYTES = 4_000_000;

/**
 * Estimates the bytes of memory to decode a picture: the decoder's own memory, a copy of the file, and the decoded
 * pixels. Pictures of 49 megapixels of each type took about as much, or less.
 */
export function bytesToDecode(picture: EncodedImage): number {
  const { bytes, target } = picture;
  return Math.round(MIN_BYTES + bytes.length + target.width * target.height * 3 + decoderBytes(picture));
}

function decoderBytes({ type, bytes, header }: EncodedImage): number {
  const { width, height } = header;
  const pixels = width * height;
  const rowBytes = width * header.channels * bytesOfSample(header.depth);
  const rows = rowBytes * Math.min(height, ROWS_KEPT);
  switch (type) {
    case 'jpeg':
      // The picture is reduced while it is read, some rows at a time; a file with several scans only after all
      // coefficients are read.
      return jpegCoefficients(bytes) * 2 + width * 64 * 4;
    case 'png':
      return header.isProgressive ? rowBytes * height + rows : rows;
    case 'tiff':
      // A TIFF may have all its rows in one strip.
      return rowBytes * height + rows;
    case 'webp':
      return isPlainLossyWebp(bytes) ? width * 64 * 4 : pixels * 5;
    case 'bmp':
      return pixels * 3 + rows;
    case 'gif':
      return pixels * 6;
    case 'heic':
      // The decoder's frames and heap, its pixels with alpha, and the same pixels again as a file.
      return 32_000_000 + pixels * 20;
    case 'avif':
      // The decoder keeps several frames, and the picture is converted twice.
      return pixels * (header.depth === 'uchar' ? 19 : 28);
  }
}

function bytesOfSample(depth: string): number {
  switch (depth) {
    case 'uchar':
    case 'char':
      return 1;
    case 'ushort':
    case 'short':
      return 2;
    case 'uint':
    case 'int':
    case 'float':
      return 4;
    case 'dpcomplex':
      return 16;
    default:
      return 8;
  }
}

/** Number of coefficients that the decoder keeps in memory: all, for files with several scans; otherwise none. */
function jpegCoefficients(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let all = 0;
  let components = 0;
  // Markers before the pixels: 0xff, a code, and a length for all codes that matter here.
  for (let at = 2; at + 10 <= bytes.length; ) {
    if (view.getUint8(at) !== 0xff) return all;
    const code = view.getUint8(at + 1);
    if (code === 0xff || code === 0x01 || (code >= 0xd0 && code <= 0xd8)) {
      at += code === 0xff ? 1 : 2;
      continue;
    }
    const isFrame = code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code);
    if (isFrame) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      components = view.getUint8(at + 9);
      if (at + 10 + components * 3 > bytes.length) return all;
      const factors = Array.from({ length: components }, (_, i) => view.getUint8(at + 11 + i * 3));
      const max = Math.max(...factors.map((factor) => factor >> 4)) * Math.max(...factors.map((factor) => factor & 15));
      const sampled = factors.reduce((sum, factor) => sum + (factor >> 4) * (factor & 15), 0);
      all = (width * height * sampled) / Math.max(1, max);
    }
    // The first scan: if it has all components of a sequential file, it is the only one.
    if (code === 0xda) return isSequentialScan(view.getUint8(at + 4), components, all) ? 0 : all;
    if (isFrame && [0xc2, 0xc6, 0xca, 0xce].includes(code)) return all;
    at += 2 + view.getUint16(at + 2);
  }
  return all;
}

function isSequentialScan(inScan: number, components: number, coefficients: number): boolean {
  return coefficients > 0 && inScan === components;
}

/** True for a single lossy picture without transparency, which is reduced while it is read. */
function isPlainLossyWebp(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    if (name === 'VP8 ') return true;
    if (name === 'VP8L' || name === 'ALPH' || name === 'ANMF') return false;
    const length = view.getUint32(at + 4, true);
    at += 8 + length + (length % 2);
  }
  return false;
}
