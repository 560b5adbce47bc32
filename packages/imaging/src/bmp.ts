import type { Metadata } from 'sharp';
import type { Pixels } from './resize.ts';

/** The layout of a BMP file, validated against its length. */
interface BmpHeader {
  readonly width: number;
  readonly height: number;
  /** Whether the first row is the top one; in most files it is the bottom one. */
  readonly topDown: boolean;
  readonly bits: number;
  /** Bytes of a row, with padding. */
  readonly stride: number;
  readonly pixelsAt: number;
  /** Offset of the palette's first entry, and bytes of an entry. */
  readonly paletteAt: number;
  readonly entryBytes: number;
  readonly colors: number;
  /** Masks of red, green, blue and alpha in a pixel of 16 or 32 bits. */
  readonly masks: readonly number[];
}

const FILE_HEADER = 14;
/** Size of the OS/2 header, which has 16-bit sizes and a palette without padding. */
const CORE_HEADER = 12;
const DEFAULT_MASKS: Readonly<Record<number, readonly number[]>> = {
  16: [0x7c00, 0x3e0, 0x1f, 0],
  32: [0xff0000, 0xff00, 0xff, 0],
};

/**
 * Reads the metadata of a BMP in the form of sharp, which does not support the format.
 * @throws Error when the header is invalid, or the file is compressed, which is rare
 */
export function bmpMetadata(bytes: Uint8Array): Metadata {
  const { width, height } = readBmpHeader(bytes);
  const size = { width, height };
  return { ...size, autoOrient: size, space: 'srgb', channels: 3, depth: 'uchar' } as Metadata;
}

/**
 * Decodes a BMP with 1, 4, 8, 16, 24 or 32 bits, with palette or masks; alpha on white. Layout as in Microsoft's
 * reference of the bitmap headers.
 * @throws Error when the header is invalid, or pixels are missing
 */
export function decodeBmp(bytes: Uint8Array): Pixels {
  const header = readBmpHeader(bytes);
  const { width, height, topDown, bits, stride, pixelsAt } = header;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (pixelsAt + stride * height > bytes.length) throw new Error('not enough data: pixels are missing');
  const data = Buffer.alloc(width * height * 3);
  const put = bits <= 8 ? paletteReader(view, header) : bits === 24 ? putTrueColor(view) : maskReader(view, header);
  for (let row = 0, to = 0; row < height; row++) {
    const from = pixelsAt + (topDown ? row : height - 1 - row) * stride;
    for (let x = 0; x < width; x++, to += 3) put(data, to, from, x);
  }
  return { width, height, data };
}

function readBmpHeader(bytes: Uint8Array): BmpHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // DataView throws a RangeError at the end of the file.
  const headerBytes = view.getUint32(14, true);
  const core = headerBytes === CORE_HEADER;
  if (!core && (headerBytes < 40 || headerBytes > 256)) throw new Error('its header is of no known version');
  const width = core ? view.getUint16(18, true) : view.getInt32(18, true);
  const signedHeight = core ? view.getUint16(20, true) : view.getInt32(22, true);
  const bits = view.getUint16(core ? 24 : 28, true);
  const compression = core ? 0 : view.getUint32(30, true);
  if (![1, 4, 8, 16, 24, 32].includes(bits)) throw new Error(`its pixels have ${bits} bits`);
  const masked = (compression === 3 || compression === 6) && (bits === 16 || bits === 32);
  if (compression !== 0 && !masked) throw new Error('it is compressed');
  const used = core ? 0 : view.getUint32(46, true);
  const alpha = masked && (headerBytes >= 56 || compression === 6) ? view.getUint32(66, true) : 0;
  return {
    width,
    height: Math.abs(signedHeight),
    topDown: signedHeight < 0,
    bits,
    stride: Math.floor((bits * width + 31) / 32) * 4,
    pixelsAt: view.getUint32(10, true),
    paletteAt: FILE_HEADER + headerBytes,
    entryBytes: core ? 3 : 4,
    colors: Math.min(used === 0 ? 2 ** bits : used, 256),
    masks: masked ? [...[54, 58, 62].map((at) => view.getUint32(at, true)), alpha] : (DEFAULT_MASKS[bits] ?? []),
  };
}

type PixelWriter = (data: Buffer, to: number, from: number, x: number) => void;

function paletteReader(view: DataView, { bits, paletteAt, entryBytes, colors }: BmpHeader): PixelWriter {
  // Colours that are missing in the palette are black, as in other decoders.
  const palette = Buffer.alloc(256 * 3);
  for (let color = 0; color < colors; color++) {
    for (let i = 0; i < 3; i++) palette[color * 3 + i] = view.getUint8(paletteAt + color * entryBytes + 2 - i);
  }
  return (data, to, from, x) => {
    const at = x * bits;
    const color = (view.getUint8(from + (at >> 3)) >> (8 - bits - (at & 7))) & (2 ** bits - 1);
    palette.copy(data, to, color * 3, color * 3 + 3);
  };
}

const putTrueColor =
  (view: DataView): PixelWriter =>
  (data, to, from, x) => {
    for (let i = 0; i < 3; i++) data[to + i] = view.getUint8(from + x * 3 + 2 - i);
  };

function maskReader(view: DataView, { bits, masks }: BmpHeader): PixelWriter {
  const channels = masks.map((mask) => {
    const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask);
    return { mask, shift, max: (mask >>> shift) >>> 0 };
  });
  const share = (pixel: number, { mask, shift, max }: { mask: number; shift: number; max: number }) =>
    max === 0 ? 0 : ((pixel & mask) >>> shift) / max;
  const alpha = channels[3]?.mask ? channels[3] : undefined;
  return (data, to, from, x) => {
    const pixel = bits === 16 ? view.getUint16(from + x * 2, true) : view.getUint32(from + x * 4, true);
    const opaque = alpha === undefined ? 1 : share(pixel, alpha);
    for (let i = 0; i < 3; i++) {
      const value = share(pixel, channels[i] as { mask: number; shift: number; max: number });
      data[to + i] = Math.round((value * opaque + 1 - opaque) * 255);
    }
  };
}
