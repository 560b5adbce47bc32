/** Bits of a point. */
export const BITS = 128;
/** A turn of a point is one of so many. */
export const TURNS = 64;
/** Between the sides of two levels of the pyramid. */
export const LEVEL_FACTOR = 1.2;

export interface Point {
  /** In units of the long side of the picture, from its upper left corner. */
  readonly x: number;
  readonly y: number;
  /** Level of the pyramid on which it was found, 0 for the finest, at most 15. */
  readonly level: number;
  readonly turn: number;
  /** 4 words of 32 comparisons. The second half compares the mirrored pairs of the first. */
  readonly bits: Uint32Array;
}

/** The points of a picture, and the size in which they were found. */
export interface Points {
  readonly width: number;
  readonly height: number;
  readonly points: readonly Point[];
}

/*
 * The format: a byte of its version and one that is 0, width and height as u16; then for each point its bits as 4 u32,
 * and one u32 of x (11 bits, of 2,048 parts of the long side), y (11), turn (6) and level (4). All little-endian.
 */
const VERSION = 2;
const HEADER_BYTES = 6;
const POINT_BYTES = 20;
const PARTS = 2_048;

export function writePoints({ width, height, points }: Points): string {
  const bytes = Buffer.alloc(HEADER_BYTES + POINT_BYTES * points.length);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt16LE(width, 2);
  bytes.writeUInt16LE(height, 4);
  const part = (fraction: number) => Math.min(PARTS - 1, Math.floor(fraction * PARTS));
  for (const [i, { x, y, turn, level, bits }] of points.entries()) {
    const at = HEADER_BYTES + POINT_BYTES * i;
    for (const [word, value] of bits.entries()) bytes.writeUInt32LE(value, at + 4 * word);
    bytes.writeUInt32LE((part(x) | (part(y) << 11) | (turn << 22) | (level << 28)) >>> 0, at + BITS / 8);
  }
  return bytes.toString('base64');
}
