import {
  type Bounds,
  boundsOf,
  type CodedQuery,
  type CodedVector,
  type Coder,
  type CodeSizes,
  FACTORS,
  MAX_SIGN_SUM,
  maxSignSum,
  NO_SLACK,
  roughEstimate,
  roughSlack,
} from './codes.ts';
import { createKernel, createMemory, type Kernel, memoryBytes } from './kernel.ts';

/**
 * Positions that the kernel compares in one call. A position in a block has 13 bits, and a small block needs little
 * memory for results.
 */
export const BLOCK_SIZE = 8_192;
/** Maximum positions of a segment. Memory of WebAssembly cannot shrink, so it is freed segment by segment. */
export const SEGMENT_BITS = 17;
export const SEGMENT_SIZE = 2 ** SEGMENT_BITS;
export const FIRST_SEGMENT_SIZE = 1_024;

/**
 * Callback for each vector: its position or row, and the lower bound, estimate and upper bound of its squared distance.
 */
export type RowVisitor = (at: number, low: number, estimate: number, high: number) => void;

/** The maximum squared distance of useful vectors: `boundKind` says which number it limits. It may decrease. */
export interface Limit {
  readonly boundKind: 'low' | 'estimate';
  readonly bound: number;
}

export const NO_LIMIT: Limit = { boundKind: 'low', bound: Number.POSITIVE_INFINITY };

/** Addresses in the memory of a segment; the signs are at its start. */
interface SegmentAddresses {
  readonly levels: number;
  readonly factors: number;
  readonly mask: number;
  /** The query's tables of signs, and its numbers. */
  readonly tables: number;
  readonly numbers: number;
  readonly positions: number;
  readonly out: number;
  readonly end: number;
}

function segmentAddresses({ bits, stride }: CodeSizes, capacity: number): SegmentAddresses {
  const levels = (capacity * bits) / 8;
  const factors = levels + capacity * stride;
  const mask = factors + 4 * FACTORS * capacity;
  const tables = mask + capacity / 8;
  const numbers = tables + 4 * bits;
  const positions = numbers + 4 * stride;
  const out = positions + 4 * BLOCK_SIZE;
  // The kernel writes slightly beyond the end of its results.
  return { levels, factors, mask, tables, numbers, positions, out, end: out + 4 * BLOCK_SIZE + 32 };
}

export function segmentBytes(sizes: CodeSizes, capacity: number): number {
  return memoryBytes(segmentAddresses(sizes, capacity).end);
}

/** Codes of a limited number of vectors in a separate memory. Each vector has its own position. */
export class Segment {
  readonly capacity: number;
  /** A bit for each position, lowest first: the positions that {@link Segment.findBySigns} compares. */
  readonly mask: Uint32Array;
  readonly #coder: Coder;
  readonly #memory: WebAssembly.Memory;
  readonly #kernel: Kernel;
  /** The signs, interleaved byte by byte for 16 positions. */
  readonly #signs: Uint8Array;
  readonly #levels: Uint8Array;
  readonly #factors: Float32Array;
  /** The positions that {@link Segment.compare} and {@link Segment.estimate} visit, at most {@link BLOCK_SIZE}. */
  readonly positions: Uint32Array;
  readonly #numbers: Int16Array;
  /**
   * Results of the kernel: products of levels; or what signs found, the position in the block in the lowest 13 bits.
   */
  readonly #dots: Int32Array;
  readonly #found: Uint32Array;
  readonly #signsOfOne: Uint8Array;
  /** The smallest sum of the positions that {@link Segment.findBySigns} found last. */
  smallestSum = MAX_SIGN_SUM;
  /** Maximum angle between the signed numbers of a vector and their signs, in radians. */
  #angle = 0;
  readonly #at: SegmentAddresses;

  constructor(coder: Coder, capacity: number, from?: Segment) {
    const { bits, stride } = coder;
    this.#coder = coder;
    this.capacity = capacity;
    this.#at = segmentAddresses(coder, capacity);
    this.#memory = createMemory(this.#at.end);
    this.#kernel = createKernel(this.#memory);
    const { buffer } = this.#memory;
    this.mask = new Uint32Array(buffer, this.#at.mask, capacity / 32);
    this.#signs = new Uint8Array(buffer, 0, (capacity * bits) / 8);
    this.#levels = new Uint8Array(buffer, this.#at.levels, capacity * stride);
    this.#factors = new Float32Array(buffer, this.#at.factors, FACTORS * capacity);
    this.positions = new Uint32Array(buffer, this.#at.positions, BLOCK_SIZE);
    this.#numbers = new Int16Array(buffer, this.#at.numbers, 2 * stride);
    this.#dots = new Int32Array(buffer, this.#at.out, BLOCK_SIZE);
    this.#found = new Uint32Array(buffer, this.#at.out, BLOCK_SIZE);
    this.#signsOfOne = new Uint8Array(bits / 8);
    if (from === undefined) return;
    this.#signs.set(from.#signs);
    this.#levels.set(from.#levels);
    this.#factors.set(from.#factors);
    this.#angle = from.#angle;
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength;
  }

  set(position: number, vector: Float32Array): void {
    const [levels, factors] = [this.#levelsAt(position), this.#factorsAt(position)];
    const cosine = this.#coder.encode(vector, this.#signsOfOne, levels, factors);
    this.#angle = Math.max(this.#angle, Math.acos(Math.max(-1, Math.min(1, cosine))));
    const at = this.#signAt(position);
    for (let i = 0; i < this.#signsOfOne.length; i++) this.#signs[at + 16 * i] = this.#signsOfOne[i] as number;
  }

  /** The length of the vector of a position. */
  lengthAt(position: number): number {
    const at = position * FACTORS;
    return Math.hypot(this.#factors[at + 1] as number, this.#factors[at + 2] as number);
  }

  /** Stores only the levels of a vector that was rotated already, for {@link Segment.compare}. */
  setRotated(position: number, rotated: Float32Array): void {
    this.#coder.encodeRotated(rotated, this.#levelsAt(position), this.#factorsAt(position));
  }

  /** Adds the rotated vector that the levels of a position represent to some numbers. */
  addRotated(position: number, sums: Float32Array, at: number): void {
    const { dimensions, stride } = this.#coder;
    const factor = this.#factors[position * FACTORS] as number;
    const first = position * stride;
    for (let i = 0; i < dimensions; i++) {
      // 16 bytes hold 32 numbers; the low half-bytes hold the first 16.
      const both = this.#levels[first + (i >>> 5) * 16 + (i & 15)] as number;
      const level = i & 16 ? both >>> 4 : both & 15;
      sums[at + i] = (sums[at + i] as number) + factor * (2 * level - 15);
    }
  }

  /** Copies the codes of a position of another segment. */
  copy(position: number, from: Segment, other: number): void {
    const { bits } = this.#coder;
    const [at, otherAt] = [this.#signAt(position), from.#signAt(other)];
    for (let i = 0; i < 2 * bits; i += 16) this.#signs[at + i] = from.#signs[otherAt + i] as number;
    this.#levelsAt(position).set(from.#levelsAt(other));
    this.#factorsAt(position).set(from.#factorsAt(other));
    this.#angle = Math.max(this.#angle, from.#angle);
  }

  /** Exchanges the codes of two positions. */
  swap(position: number, from: Segment, other: number): void {
    const { bits } = this.#coder;
    const [at, otherAt] = [this.#signAt(position), from.#signAt(other)];
    for (let i = 0; i < 2 * bits; i += 16) {
      const sign = this.#signs[at + i] as number;
      this.#signs[at + i] = from.#signs[otherAt + i] as number;
      from.#signs[otherAt + i] = sign;
    }
    swapContents(this.#levelsAt(position), from.#levelsAt(other));
    swapContents(this.#factorsAt(position), from.#factorsAt(other));
    this.#angle = Math.max(this.#angle, from.#angle);
    from.#angle = this.#angle;
  }

  /** Prepares {@link Segment.findBySigns} for a query. */
  setQuery({ signs }: CodedQuery): void {
    new Uint8Array(this.#memory.buffer, this.#at.tables, signs.tables.length).set(signs.tables);
  }

  /**
   * Finds the positions in the mask whose signs are near the query of {@link Segment.setQuery}.
   * @param first the first position of a block, a multiple of 32
   * @param count the number of its positions, a multiple of 32, at most {@link BLOCK_SIZE}
   * @param max maximum sum of signs
   * @returns how many there are: they are the first of {@link Segment.positions}
   */
  findBySigns(first: number, count: number, max: number): number {
    const bytes = this.#coder.bits / 8;
    const { mask, tables, out } = this.#at;
    const found = this.#kernel.nearSigns(first * bytes, bytes, count, mask + first / 8, tables, max, out);
    let smallest = MAX_SIGN_SUM;
    for (let i = 0; i < found; i++) {
      const one = this.#found[i] as number;
      this.positions[i] = first + (one & (BLOCK_SIZE - 1));
      smallest = Math.min(smallest, one >>> 13);
    }
    this.smallestSum = smallest;
    return found;
  }

  /** The maximum sum of signs of a position within a distance of a query. */
  maxSum(query: CodedQuery, distance: number): number {
    return maxSignSum(query, this.#coder.copies, this.#angle, distance);
  }

  /**
   * Compares the first `count` of {@link Segment.positions} by levels.
   * @param rows the row of each position
   * @param first is added to a position to find its row
   * @param limit rows beyond it may be skipped
   */
  compare(query: CodedVector, count: number, rows: Uint32Array, first: number, visit: RowVisitor, limit: Limit): void {
    this.#computeDots(query, count);
    const { dimensions } = this.#coder;
    const bounds: Bounds = { low: 0, estimate: 0, high: 0 };
    const slack = limit.boundKind === 'low' ? roughSlack(query, dimensions) : NO_SLACK;
    for (let i = 0; i < count; i++) {
      const position = this.positions[i] as number;
      const at = position * FACTORS;
      const dot = this.#dots[i] as number;
      const factor = this.#factors[at] as number;
      const length = this.#factors[at + 1] as number;
      const rest = this.#factors[at + 2] as number;
      const rough = roughEstimate(query, dot, factor, length, rest) - slack.ofRest * rest - slack.ofLength * length;
      if (rough > limit.bound) continue;
      boundsOf(query, dimensions, dot, factor, length, rest, bounds);
      visit(rows[first + position] as number, bounds.low, bounds.estimate, bounds.high);
    }
  }

  /** Estimates the squared distances of the first `count` of {@link Segment.positions} from a query. */
  estimate(query: CodedVector, count: number, estimates: Float64Array): void {
    this.#computeDots(query, count);
    for (let i = 0; i < count; i++) {
      const at = (this.positions[i] as number) * FACTORS;
      const [factor, length, rest] = [this.#factors[at], this.#factors[at + 1], this.#factors[at + 2]] as [
        number,
        number,
        number,
      ];
      estimates[i] = Math.max(0, roughEstimate(query, this.#dots[i] as number, factor, length, rest));
    }
  }

  #computeDots(query: CodedVector, count: number): void {
    const { stride } = this.#coder;
    const { levels, factors, positions, numbers, out } = this.#at;
    this.#numbers.set(query.numbers);
    this.#kernel.levelDots(levels, stride, factors, positions, count, numbers, out);
  }

  /** The address of the first byte of the signs of a position; the next bytes follow at steps of 16. */
  #signAt(position: number): number {
    return ((position & ~15) * this.#coder.bits) / 8 + (position & 15);
  }

  #levelsAt(position: number): Uint8Array {
    const { stride } = this.#coder;
    return this.#levels.subarray(position * stride, (position + 1) * stride);
  }

  #factorsAt(position: number): Float32Array {
    return this.#factors.subarray(position * FACTORS, (position + 1) * FACTORS);
  }
}

function swapContents<T extends Uint8Array | Float32Array>(one: T, other: T): void {
  const kept = one.slice();
  one.set(other);
  other.set(kept);
}
