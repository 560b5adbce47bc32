import { createKernel, createMemory } from './kernel.ts';
import type { Kernel } from './plain-kernel.ts';
import { Rotation } from './rotation.ts';

/*
 * Codes of vectors, in two sizes. Signs: one bit for each number of the vector once it is rotated at random; how many
 * bits of two vectors differ estimates the angle between them (Charikar 2002). Levels: four bits for each rotated
 * number, in steps that suit a normal distribution (Max 1960), with the scale that fits best and the length of what they
 * leave over, which bounds how wrong a distance by levels can be.
 */

/** Shorter vectors are rotated several times to get this many signs: fewer say too little. */
const LEAST_SIGNS = 256;
/** The best step of 16 even levels for a normal distribution of deviation 1 (Max 1960, table 2). */
const STEP = 0.3352;
/** What sums of f32 may be wrong by, as a share of the lengths that are added up. */
const ROUNDING = 2e-5;

/** Numbers that go with the levels of each row. */
export const FACTORS = 3;

/** A query, in the forms that the kernel compares with codes. */
export interface CodedQuery {
  /** As it came. */
  readonly vector: Float32Array;
  readonly signs: Uint8Array;
  /** The numbers after the first signs in 4 bits each, bit by bit, and what such a number stands for. */
  readonly planes: Uint8Array;
  readonly plane: {
    readonly step: number;
    readonly low: number;
    /** Of all numbers as they are in 4 bits, and how far these are from the vector. */
    readonly sum: number;
    readonly error: number;
  };
  /** The rotated numbers as i16, times `scale`. */
  readonly numbers: Int16Array;
  readonly scale: number;
  readonly sum: number;
  readonly length: number;
  /** The square of its length. */
  readonly square: number;
}

/** What codes of vectors of one width take. */
export interface CodeSizes {
  /** Numbers of a vector once it is rotated: 4 at least. */
  readonly dimensions: number;
  /** Bits of the signs of a row, a multiple of 128. */
  readonly bits: number;
  /** Bytes of the levels of a row, a multiple of 16. */
  readonly stride: number;
}

/** @param numbers of a vector */
export function codeSizes(numbers: number): CodeSizes {
  const dimensions = Math.max(4, numbers);
  return {
    dimensions,
    bits: Math.max(LEAST_SIGNS, Math.ceil(dimensions / 128) * 128),
    stride: Math.ceil(dimensions / 32) * 16,
  };
}

/** Makes codes of vectors of one width. */
export class Coder implements CodeSizes {
  readonly dimensions: number;
  readonly bits: number;
  readonly stride: number;
  readonly #rotations: readonly Rotation[];
  readonly #kernel: Kernel;
  /** Bytes of signs that a rotation gives. */
  readonly #signBytes: number;
  // What the kernel works on: the vector and as many zeros as make it whole blocks, and what it writes.
  readonly #vector: Float32Array;
  readonly #signs: Uint8Array;
  readonly #levels: Uint8Array;
  readonly #factors: Float32Array;

  /** @param dimensions numbers of a vector */
  constructor(dimensions: number) {
    const sizes = codeSizes(dimensions);
    this.dimensions = sizes.dimensions;
    this.bits = sizes.bits;
    this.stride = sizes.stride;
    this.#signBytes = Math.ceil(this.dimensions / 8);
    const count = Math.ceil(this.bits / 8 / this.#signBytes);
    const rotationBytes = Rotation.bytes(this.dimensions);
    const signsAt = 8 * this.stride;
    // The last rotation may give more signs than are kept.
    const levelsAt = signsAt + Math.ceil((count * this.#signBytes) / 16) * 16;
    const factorsAt = levelsAt + this.stride;
    const rotationsAt = factorsAt + 16;
    const memory = createMemory(rotationsAt + count * rotationBytes);
    this.#kernel = createKernel(memory);
    this.#vector = new Float32Array(memory.buffer, 0, 2 * this.stride);
    this.#signs = new Uint8Array(memory.buffer, signsAt, this.bits / 8);
    this.#levels = new Uint8Array(memory.buffer, levelsAt, this.stride);
    this.#factors = new Float32Array(memory.buffer, factorsAt, FACTORS);
    this.#rotations = Array.from(
      { length: count },
      (_, i) => new Rotation(this.dimensions, i + 1, memory, rotationsAt + i * rotationBytes),
    );
  }

  /**
   * @param signs gets `bits / 8` bytes
   * @param levels gets `stride` bytes
   * @param factors gets the scale of the levels, the length of what they stand for, and that of what they leave over
   * @returns the cosine of the angle between the vector and its first signs
   */
  encode(vector: Float32Array, signs: Uint8Array, levels: Uint8Array, factors: Float32Array): number {
    this.#rotate(vector);
    this.#levels.fill(0);
    this.#factors.fill(0);
    const cosine = this.#kernel.encodeLevels(
      0,
      this.dimensions,
      STEP,
      this.#levels.byteOffset,
      this.#factors.byteOffset,
    );
    signs.set(this.#signs);
    levels.set(this.#levels);
    factors.set(this.#factors);
    return cosine;
  }

  query(vector: Float32Array): CodedQuery {
    const { dimensions, bits } = this;
    this.#rotate(vector);
    const rotated = this.#vector.slice(0, dimensions);
    let [square, greatest, least] = [0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const number of rotated) {
      square += number * number;
      greatest = Math.max(greatest, number);
      least = Math.min(least, number);
    }
    const step = (greatest - least) / 15 || 1;
    const planes = new Uint8Array((5 * bits) / 8);
    let [error, planeSum] = [0, 0];
    for (let i = 0; i < dimensions; i++) {
      const level = Math.min(15, Math.round(((rotated[i] as number) - least) / step));
      planeSum += least + level * step;
      error += (least + level * step - (rotated[i] as number)) ** 2;
      for (let plane = 0; plane < 5; plane++) {
        const at = (plane * bits) / 8 + (i >>> 3);
        if (plane === 4 || (level >>> plane) & 1) planes[at] = (planes[at] as number) | (1 << (i & 7));
      }
    }
    // The kernel adds products of two rows of 15 at most in 32 bits.
    const most = Math.min(32_767, Math.floor(2 ** 30 / (15 * dimensions)));
    const scale = most / Math.max(greatest, -least, 1e-30);
    const numbers = new Int16Array(2 * this.stride);
    for (let i = 0; i < dimensions; i++) numbers[i] = Math.round((rotated[i] as number) * scale);
    return {
      vector,
      signs: this.#signs.slice(),
      planes,
      plane: { step, low: least, sum: planeSum, error: Math.sqrt(error) },
      numbers,
      scale,
      sum: numbers.reduce((sum, number) => sum + number, 0),
      length: Math.sqrt(square),
      square,
    };
  }

  /** Rotates a vector by each rotation, takes the signs of each, and leaves what the first one gives. */
  #rotate(vector: Float32Array): void {
    for (let r = this.#rotations.length - 1; r >= 0; r--) {
      this.#vector.fill(0);
      this.#vector.set(vector);
      (this.#rotations[r] as Rotation).apply(this.#kernel, 0);
      this.#kernel.signBits(0, 8 * this.#signBytes, this.#signs.byteOffset + r * this.#signBytes);
    }
  }
}

/** Least and greatest squared distance that a row of levels may have from a query, and the likeliest. */
export interface Bounds {
  low: number;
  likely: number;
  high: number;
}

/**
 * By the triangle inequality: what levels leave over stands at a right angle to what they stand for, so only the part of
 * the query that does so too can meet it.
 *
 * @param dot what the kernel's `levelDots` gives for the row
 * @param bounds gets the result
 */
export function boundsOf(
  { scale, sum, square }: CodedQuery,
  dimensions: number,
  dot: number,
  factor: number,
  length: number,
  rest: number,
  bounds: Bounds,
): void {
  const product = (2 * dot - 15 * sum) / scale;
  const along = length === 0 ? 0 : (product * factor) / length;
  const across = Math.sqrt(Math.max(0, square - along * along));
  // Each number of the query is wrong by half a unit at most.
  const queryError = (Math.sqrt(dimensions) / (2 * scale)) * length;
  const squares = square + length * length + rest * rest;
  const slack = 2 * (rest * across + queryError) + ROUNDING * squares + 1e-12;
  const likely = squares - 2 * along * length;
  bounds.likely = Math.max(0, likely);
  bounds.low = Math.max(0, likely - slack);
  bounds.high = Math.max(0, likely + slack);
}

/** Less than `low` of {@link boundsOf}, and quicker: it takes all of the query for the part that meets what is left over. */
export function roughLow(
  { scale, sum, square, length: queryLength }: CodedQuery,
  dimensions: number,
  dot: number,
  factor: number,
  length: number,
  rest: number,
): number {
  const squares = square + length * length + rest * rest;
  const queryError = (Math.sqrt(dimensions) / (2 * scale)) * length;
  return squares * (1 - ROUNDING) - (2 * factor * (2 * dot - 15 * sum)) / scale - 2 * (rest * queryLength + queryError);
}

/**
 * The least distance that a row may have from a query, by the angles between the query, the row's signs and the row.
 *
 * @param dot what the kernel's `signDots` gives for the row
 * @param angle the greatest angle between a row and its signs, in radians
 */
export function leastDistance({ plane, square }: CodedQuery, dimensions: number, dot: number, angle: number): number {
  const ones = dot >>> 18;
  const product = 2 * (plane.step * (dot & 0x3ffff) + plane.low * ones) - plane.sum;
  const length = Math.sqrt(square);
  if (length === 0) return 0;
  const cosine = (product / Math.sqrt(dimensions) + plane.error) / length + ROUNDING;
  const least = Math.acos(Math.max(-1, Math.min(1, cosine))) - angle - ROUNDING;
  if (least <= 0) return 0;
  // Whatever the length of the row is.
  return length * Math.sin(Math.min(least, Math.PI / 2)) * (1 - ROUNDING);
}
