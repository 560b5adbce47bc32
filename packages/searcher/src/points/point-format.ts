/*
 * The points of a picture as the module parts writes them: 6 bytes of header (a version, 0, width and height as u16),
 * then for each point 128 bits as 4 u32, and a u32 of x (11 bits, in 2,048 parts of the long side), y (11), turn (6)
 * and level (4). All little-endian. In a mirrored picture the halves of the bits are swapped.
 */
export const HEADER_BYTES = 6;
export const POINT_BYTES = 20;
const BITS_BYTES = 16;
const VERSION = 2;
const PARTS = 2_048;
export const TURNS = 64;
/** Between the sides of two levels of the pyramid on which points are found. */
const LEVEL_FACTOR = 1.2;

/** The points of a picture, as columns. */
export interface PointSet {
  readonly count: number;
  /** Of the picture, in units of its long side: one of them is 1. */
  readonly width: number;
  readonly height: number;
  /** 4 words for each point. */
  readonly bits: Uint32Array;
  /** In units of the long side. */
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** In 64 parts of a full turn. */
  readonly turn: Uint8Array | Float32Array;
  /** The size of a pixel of its level, in units of the long side. */
  readonly scale: Float32Array;
}

/** Where points are. */
export type Places = Pick<PointSet, 'x' | 'y' | 'turn' | 'scale'>;

/** @returns undefined if the bytes have another format */
export function readPoints(bytes: Uint8Array): PointSet | undefined {
  const count = (bytes.length - HEADER_BYTES) / POINT_BYTES;
  if (bytes[0] !== VERSION || !Number.isInteger(count)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint16(2, true), view.getUint16(4, true)];
  const long = Math.max(1, width, height);
  const set = {
    count,
    width: width / long,
    height: height / long,
    bits: new Uint32Array(4 * count),
    x: new Float32Array(count),
    y: new Float32Array(count),
    turn: new Uint8Array(count),
    scale: new Float32Array(count),
  };
  for (let i = 0; i < count; i++) {
    const at = HEADER_BYTES + POINT_BYTES * i;
    for (let word = 0; word < 4; word++) set.bits[4 * i + word] = view.getUint32(at + 4 * word, true);
    unpack(view.getUint32(at + BITS_BYTES, true), long, set, i);
  }
  return set;
}

/** Reads where a point is. @param long of the picture in pixels */
function unpack(packed: number, long: number, into: Places, i: number): void {
  into.x[i] = ((packed & 2_047) + 0.5) / PARTS;
  into.y[i] = (((packed >>> 11) & 2_047) + 0.5) / PARTS;
  into.turn[i] = (packed >>> 22) & 63;
  into.scale[i] = LEVEL_FACTOR ** (packed >>> 28) / long;
}

/** Where the n-th point of a picture roughly is, in 16 bits: x (5), y (5), turn (4) and level (2). */
export function roughPlaceOf(bytes: Uint8Array, n: number): number {
  const at = HEADER_BYTES + POINT_BYTES * n + BITS_BYTES;
  const packed = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
  const [x, y, turn] = [(packed >>> 6) & 31, (packed >>> 17) & 31, (packed >>> 24) & 15];
  return x | (y << 5) | (turn << 10) | (Math.min(3, packed >>> 29) << 14);
}

export const roughTurnOf = (place: number) => 4 * ((place >>> 10) & 15) + 1.5;

/** Reads it. @param long of the picture in pixels */
export function unpackRough(place: number, long: number, into: Places, i: number): void {
  into.x[i] = ((place & 31) + 0.5) / 32;
  into.y[i] = (((place >>> 5) & 31) + 0.5) / 32;
  into.turn[i] = roughTurnOf(place);
  into.scale[i] = LEVEL_FACTOR ** (2 * (place >>> 14) + 0.5) / long;
}

/** The points of the mirrored picture, in the same order. */
export function mirrored(set: PointSet): PointSet {
  const bits = new Uint32Array(set.bits.length);
  for (let i = 0; i < bits.length; i++) bits[i] = set.bits[i ^ 2] as number;
  return {
    ...set,
    bits,
    x: set.x.map((x) => set.width - x),
    turn: set.turn.map((turn) => (TURNS + TURNS / 2 - turn) % TURNS),
  };
}
