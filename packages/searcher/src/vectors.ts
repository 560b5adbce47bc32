import { type Bits, bitsBytes, createBits, forEachBit, hasBit, setBit, withRoom } from './bits.ts';
import {
  type Bounds,
  boundsOf,
  type CodedQuery,
  type Coder,
  type CodeSizes,
  FACTORS,
  mostSignSum,
  roughLikely,
  roughLow,
} from './codes.ts';
import { createKernel, createMemory, memoryBytes } from './kernel.ts';
import type { Kernel } from './plain-kernel.ts';

/**
 * Rows that the kernel compares in one call. A position in a block has 13 bits, and a small block needs little memory
 * for results.
 */
const BLOCK = 8_192;
/** Maximum rows of a segment. Memory of WebAssembly cannot shrink, so it is freed segment by segment. */
const SEGMENT = 131_072;
const FIRST_SEGMENT = 1_024;

/** Callback for each row: its position, and the lower bound, estimate and upper bound of its squared distance. */
export type Take = (row: number, low: number, likely: number, high: number) => void;

/** The maximum squared distance of rows that are useful, as a lower bound or as an estimate. It may decrease. */
export interface Limit {
  readonly by: 'low' | 'likely';
  readonly bound: number;
}

const NO_LIMIT: Limit = { by: 'low', bound: Number.POSITIVE_INFINITY };

/**
 * Callback for rows of a block: its first row, and for each found row its position in the block and its sum of signs.
 * @see placeOf
 */
type TakeNear = (first: number, found: Uint32Array, count: number) => void;

/** The position in its block of a row that the kernel found. */
export const placeOf = (found: number): number => found & (BLOCK - 1);
/** The sum of signs of a row that the kernel found. */
export const sumOf = (found: number): number => found >>> 13;

/** Full vectors of up to some ten thousand rows, four bytes a number. */
export class Floats {
  readonly dimensions: number;
  readonly #stride: number;
  #room = FIRST_SEGMENT;
  #memory: WebAssembly.Memory;
  #kernel: Kernel;
  described: Bits = createBits(FIRST_SEGMENT);

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.#stride = floatStride(dimensions);
    this.#memory = createMemory(floatBytes(this.#stride, FIRST_SEGMENT));
    this.#kernel = createKernel(this.#memory);
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength + this.described.byteLength;
  }

  set(row: number, vector: Float32Array): void {
    if (row >= this.#room) this.#grow(Math.ceil(Math.max(row + 1, 2 * this.#room) / FIRST_SEGMENT) * FIRST_SEGMENT);
    new Float32Array(this.#memory.buffer, row * this.#stride, this.dimensions).set(vector);
    setBit(this.described, row);
  }

  /** The vector of a row, valid until the next change. */
  get(row: number): Float32Array {
    return new Float32Array(this.#memory.buffer, row * this.#stride, this.dimensions);
  }

  /** Compares rows with a query. The rounding error of sums of f32 is a share of the distance. */
  compare(query: Float32Array, rows: Bits, take: Take): void {
    const maskAt = this.#room * this.#stride;
    const queryAt = maskAt + this.#room / 8;
    const outAt = queryAt + this.#stride;
    const { buffer } = this.#memory;
    const padded = new Float32Array(buffer, queryAt, this.#stride / 4);
    padded.fill(0);
    padded.set(query);
    const out = new Float32Array(buffer, outAt, BLOCK);
    const mask = new Uint32Array(buffer, maskAt, this.#room / 32);
    setMask(mask, rows);
    for (let first = 0; first < this.#room; first += BLOCK) {
      const count = Math.min(BLOCK, this.#room - first);
      this.#kernel.squares(first * this.#stride, this.#stride, count, maskAt + first / 8, queryAt, outAt);
      forEachBit(mask.subarray(first / 32, (first + count) / 32), (i) => {
        const square = out[i] as number;
        take(first + i, square * 0.9999, square, square * 1.0001 + 1e-12);
      });
    }
  }

  #grow(room: number): void {
    const memory = createMemory(floatBytes(this.#stride, room));
    new Uint8Array(memory.buffer).set(new Uint8Array(this.#memory.buffer, 0, this.#room * this.#stride));
    this.#room = room;
    this.#memory = memory;
    this.#kernel = createKernel(memory);
    this.described = withRoom(this.described, room);
  }
}

/** Addresses in the memory of a segment; the signs are at its start. */
interface SegmentAddresses {
  readonly levels: number;
  readonly factors: number;
  readonly mask: number;
  readonly query: number;
  readonly rows: number;
  readonly out: number;
  readonly end: number;
}

function segmentAddresses({ bits, stride }: CodeSizes, room: number): SegmentAddresses {
  const levels = (room * bits) / 8;
  const factors = levels + room * stride;
  const mask = factors + 4 * FACTORS * room;
  const query = mask + room / 8;
  const rows = query + 4 * Math.max(bits, stride);
  const out = rows + 4 * BLOCK;
  // The kernel writes slightly beyond the end of its results.
  return { levels, factors, mask, query, rows, out, end: out + 4 * BLOCK + 32 };
}

/** Codes of a limited number of rows, in a separate memory. */
class Segment {
  readonly room: number;
  readonly #coder: Coder;
  readonly #memory: WebAssembly.Memory;
  readonly #kernel: Kernel;
  /** The signs, interleaved byte by byte for 16 rows. */
  readonly #signs: Uint8Array;
  readonly #levels: Uint8Array;
  readonly #factors: Float32Array;
  readonly #rowSigns: Uint8Array;
  /** Maximum angle between the signed numbers of a row and their signs, in radians. */
  #angle = 0;
  readonly #at: SegmentAddresses;

  constructor(coder: Coder, room: number, from?: Segment) {
    const { bits, stride } = coder;
    this.#coder = coder;
    this.room = room;
    this.#at = segmentAddresses(coder, room);
    this.#memory = createMemory(this.#at.end);
    this.#kernel = createKernel(this.#memory);
    const { buffer } = this.#memory;
    this.#signs = new Uint8Array(buffer, 0, (room * bits) / 8);
    this.#levels = new Uint8Array(buffer, this.#at.levels, room * stride);
    this.#factors = new Float32Array(buffer, this.#at.factors, FACTORS * room);
    this.#rowSigns = new Uint8Array(bits / 8);
    if (from === undefined) return;
    this.#signs.set(from.#signs);
    this.#levels.set(from.#levels);
    this.#factors.set(from.#factors);
    this.#angle = from.#angle;
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  set(row: number, vector: Float32Array): void {
    const { stride } = this.#coder;
    const levels = this.#levels.subarray(row * stride, (row + 1) * stride);
    const factors = this.#factors.subarray(row * FACTORS, (row + 1) * FACTORS);
    const cosine = this.#coder.encode(vector, this.#rowSigns, levels, factors);
    this.#angle = Math.max(this.#angle, Math.acos(Math.max(-1, Math.min(1, cosine))));
    const at = this.#signAt(row);
    for (let i = 0; i < this.#rowSigns.length; i++) this.#signs[at + 16 * i] = this.#rowSigns[i] as number;
  }

  /** Copies the codes of a row of another segment. */
  copy(row: number, from: Segment, other: number): void {
    const { bits, stride } = this.#coder;
    const [at, otherAt] = [this.#signAt(row), from.#signAt(other)];
    for (let i = 0; i < 2 * bits; i += 16) this.#signs[at + i] = from.#signs[otherAt + i] as number;
    this.#levels.set(from.#levels.subarray(other * stride, (other + 1) * stride), row * stride);
    this.#factors.set(from.#factors.subarray(other * FACTORS, (other + 1) * FACTORS), row * FACTORS);
    this.#angle = Math.max(this.#angle, from.#angle);
  }

  /** The address of the first byte of a row's signs; the next bytes follow at steps of 16. */
  #signAt(row: number): number {
    return ((row & ~15) * this.#coder.bits) / 8 + (row & 15);
  }

  /** See {@link Codes.nearBySigns}. */
  nearBySigns({ signs }: CodedQuery, rows: Bits, most: () => number, take: TakeNear): void {
    const { buffer } = this.#memory;
    const { bits } = this.#coder;
    const { mask: maskAt, query: queryAt, out: outAt } = this.#at;
    new Uint8Array(buffer, queryAt, 4 * bits).set(signs.tables);
    setMask(new Uint32Array(buffer, maskAt, this.room / 32), rows);
    const found = new Uint32Array(buffer, outAt, BLOCK);
    for (let first = 0; first < this.room; first += BLOCK) {
      const codesAt = (first * bits) / 8;
      const count = Math.min(BLOCK, this.room - first);
      take(first, found, this.#kernel.nearSigns(codesAt, bits / 8, count, maskAt + first / 8, queryAt, most(), outAt));
    }
  }

  /** Calls back with the rows whose signs do not rule out this distance. */
  within(query: CodedQuery, rows: Bits, distance: number, take: (row: number) => void): void {
    const most = mostSignSum(query, this.#coder.copies, this.#angle, distance);
    const takeAll: TakeNear = (first, found, count) => {
      for (let i = 0; i < count; i++) take(first + placeOf(found[i] as number));
    };
    this.nearBySigns(query, rows, () => most, takeAll);
  }

  /** See {@link Codes.compare}. */
  compare(query: CodedQuery, rows: Uint32Array, take: Take, limit: Limit): void {
    const { buffer } = this.#memory;
    const { stride, dimensions } = this.#coder;
    new Int16Array(buffer, this.#at.query, 2 * stride).set(query.numbers);
    const places = new Uint32Array(buffer, this.#at.rows, BLOCK);
    const out = new Int32Array(buffer, this.#at.out, BLOCK);
    const bounds: Bounds = { low: 0, likely: 0, high: 0 };
    const { levels: levelsAt, factors: factorsAt } = this.#at;
    const factors = this.#factors;
    const rough = limit.by === 'likely' ? roughLikely : roughLow;
    for (let first = 0; first < rows.length; first += BLOCK) {
      const part = rows.subarray(first, first + BLOCK);
      places.set(part);
      this.#kernel.levelDots(levelsAt, stride, factorsAt, this.#at.rows, part.length, this.#at.query, this.#at.out);
      for (let i = 0; i < part.length; i++) {
        const row = part[i] as number;
        const at = row * FACTORS;
        const dot = out[i] as number;
        const factor = factors[at] as number;
        const length = factors[at + 1] as number;
        const rest = factors[at + 2] as number;
        if (rough(query, dimensions, dot, factor, length, rest) > limit.bound) continue;
        boundsOf(query, dimensions, dot, factor, length, rest, bounds);
        take(row, bounds.low, bounds.likely, bounds.high);
      }
    }
  }
}

/** Codes of vectors of many rows: about 0.63 bytes a number. */
export class Codes {
  readonly coder: Coder;
  readonly #segments: Segment[] = [];
  described: Bits = createBits(FIRST_SEGMENT);

  constructor(coder: Coder) {
    this.coder = coder;
  }

  get bytes(): number {
    return this.described.byteLength + this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  set(row: number, vector: Float32Array): void {
    this.#segmentOf(row).set(row % SEGMENT, vector);
    setBit(this.described, row);
  }

  /** A copy with only these rows, in the given order. */
  kept(rows: Uint32Array): Codes {
    const codes = new Codes(this.coder);
    for (const [row, other] of rows.entries()) {
      if (!hasBit(this.described, other)) continue;
      const from = this.#segments[Math.floor(other / SEGMENT)] as Segment;
      codes.#segmentOf(row).copy(row % SEGMENT, from, other % SEGMENT);
      setBit(codes.described, row);
    }
    return codes;
  }

  /**
   * Calls back with the rows whose signs are near a query, block by block.
   * @param most returns the maximum sum of signs for rows of the next block
   */
  nearBySigns(query: CodedQuery, rows: Bits, most: () => number, take: TakeNear): void {
    this.#forEachSegment(rows, (segment, first, part) => {
      segment.nearBySigns(query, part, most, (block, found, count) => take(first + block, found, count));
    });
  }

  /** Compares by levels the rows whose signs do not rule out this distance. */
  within(query: CodedQuery, rows: Bits, most: number, take: Take): void {
    this.#forEachSegment(rows, (segment, first, part) => {
      const near: number[] = [];
      segment.within(query, part, most, (row) => near.push(row));
      const found: Take = (row, low, likely, high) => take(first + row, low, likely, high);
      segment.compare(query, Uint32Array.from(near), found, NO_LIMIT);
    });
  }

  /** Compares rows by levels. @param rows ascending @param limit rows beyond it may be skipped */
  compare(query: CodedQuery, rows: Uint32Array, take: Take, limit: Limit = NO_LIMIT): void {
    for (let from = 0; from < rows.length; ) {
      const number = Math.floor((rows[from] as number) / SEGMENT);
      const first = number * SEGMENT;
      let to = from;
      while (to < rows.length && (rows[to] as number) < first + SEGMENT) to++;
      const part = rows.slice(from, to);
      for (let i = 0; i < part.length; i++) part[i] = (part[i] as number) - first;
      const segment = this.#segments[number] as Segment;
      segment.compare(query, part, (row, low, likely, high) => take(first + row, low, likely, high), limit);
      from = to;
    }
  }

  #segmentOf(row: number): Segment {
    const number = Math.floor(row / SEGMENT);
    while (this.#segments.length <= number) this.#segments.push(new Segment(this.coder, FIRST_SEGMENT));
    const segment = this.#segments[number] as Segment;
    const needed = (row % SEGMENT) + 1;
    this.described = withRoom(this.described, row + 1);
    if (needed <= segment.room) return segment;
    const room = Math.min(SEGMENT, Math.max(needed, 2 * segment.room));
    const larger = new Segment(this.coder, Math.ceil(room / FIRST_SEGMENT) * FIRST_SEGMENT, segment);
    this.#segments[number] = larger;
    return larger;
  }

  #forEachSegment(rows: Bits, call: (segment: Segment, first: number, part: Bits) => void): void {
    for (const [number, segment] of this.#segments.entries()) {
      const first = number * SEGMENT;
      const part = rows.subarray(first / 32, (first + segment.room) / 32);
      if (part.length > 0) call(segment, first, part);
    }
  }
}

/** Copies the bits of rows into a mask; missing rows get 0. */
function setMask(mask: Uint32Array, rows: Bits): void {
  const words = rows.subarray(0, mask.length);
  mask.set(words);
  mask.fill(0, words.length);
}

/** Bytes of a row of floats: a multiple of 16 floats. */
function floatStride(dimensions: number): number {
  return Math.ceil(dimensions / 4) * 16;
}

/** Bytes of rows of floats with the working memory of the kernel. */
function floatBytes(stride: number, room: number): number {
  return room * stride + room / 8 + stride + 4 * BLOCK;
}

/** Maximum bytes of {@link Floats} with this many rows: their capacity doubles. */
export function floatsBytes(dimensions: number, rows: number): number {
  return memoryBytes(floatBytes(floatStride(dimensions), Math.max(2 * rows, FIRST_SEGMENT))) + bitsBytes(2 * rows);
}

/** Maximum bytes of {@link Codes} with this many rows: the capacity of the last segment doubles. */
export function codesBytes(sizes: CodeSizes, rows: number): number {
  const whole = Math.floor(rows / SEGMENT);
  const last = Math.min(SEGMENT, Math.max(FIRST_SEGMENT, 2 * (rows % SEGMENT)));
  const bytesOf = (room: number) => memoryBytes(segmentAddresses(sizes, room).end);
  return whole * bytesOf(SEGMENT) + bytesOf(last) + bitsBytes(rows);
}
