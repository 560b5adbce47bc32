import { createKernel, createMemory } from './kernel.ts';
import type { Kernel } from './plain-kernel.ts';
import { Rotation } from './rotation.ts';

/*
 * Codes of vectors, in two sizes. Signs: one bit for each number of the first half of a vector once it is rotated at
 * random. The numbers of a query whose signs differ from those of a row estimate the angle between both (as in Gao and
 * Long, "RaBitQ", 2024); half of the numbers told neighbours better than signs of a query and all of them. Levels: four bits for each rotated
 * number, in steps that suit a normal distribution (Max 1960), with the scale that fits best and the length of what they
 * leave over, which bounds how wrong a distance by levels can be.
 */

/** Shorter vectors are rotated several times to get this many signs: fewer say too little. */
const LEAST_SIGNS = 128;
/** The greatest that two bytes of signs may add to a sum, but for what four entries of tables are rounded up. */
const MOST_ADDED = 253;
/** The best step of 16 even levels for a normal distribution of deviation 1 (Max 1960, table 2). */
const STEP = 0.3352;
/** What sums of f32 may be wrong by, as a share of the lengths that are added up. */
const ROUNDING = 2e-5;

/** More than any sum of signs. */
export const MOST_SIGN_SUM = 0xffff;
/** Numbers that go with the levels of each row. */
export const FACTORS = 3;

/** A query, in the forms that the kernel compares with codes. */
export interface CodedQuery {
  readonly signs: {
    /** Of each four signs: what they add to a row's sum, 16 bytes. */
    readonly tables: Uint8Array;
    /** Units of a sum: so much stands for a number's magnitude of 1. */
    readonly scale: number;
    /** Of the numbers that have signs: the sum of their magnitudes, and their length. */
    readonly sum: number;
    readonly length: number;
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
    bits: Math.max(LEAST_SIGNS, Math.ceil(dimensions / 2 / 128) * 128),
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
  // What the kernel works on: the vector and as many zeros as make it whole blocks, numbers that get signs, what it writes.
  readonly #vector: Float32Array;
  readonly #signed: Float32Array;
  readonly #signs: Uint8Array;
  readonly #levels: Uint8Array;
  readonly #factors: Float32Array;

  /** @param dimensions numbers of a vector */
  constructor(dimensions: number) {
    const sizes = codeSizes(dimensions);
    this.dimensions = sizes.dimensions;
    this.bits = sizes.bits;
    this.stride = sizes.stride;
    const count = Math.ceil(this.bits / this.dimensions);
    const rotationBytes = Rotation.bytes(this.dimensions);
    const signedAt = 8 * this.stride;
    const signsAt = signedAt + 4 * this.bits;
    const levelsAt = signsAt + this.bits / 8;
    const factorsAt = levelsAt + this.stride;
    const rotationsAt = factorsAt + 16;
    const memory = createMemory(rotationsAt + count * rotationBytes);
    this.#kernel = createKernel(memory);
    this.#vector = new Float32Array(memory.buffer, 0, 2 * this.stride);
    this.#signed = new Float32Array(memory.buffer, signedAt, this.bits);
    this.#signs = new Uint8Array(memory.buffer, signsAt, this.bits / 8);
    this.#levels = new Uint8Array(memory.buffer, levelsAt, this.stride);
    this.#factors = new Float32Array(memory.buffer, factorsAt, FACTORS);
    this.#rotations = Array.from(
      { length: count },
      (_, i) => new Rotation(this.dimensions, i + 1, memory, rotationsAt + i * rotationBytes),
    );
  }

  /** How often a vector is rotated: its signs stand for parts of so many copies of it. */
  get copies(): number {
    return this.#rotations.length;
  }

  /**
   * @param signs gets `bits / 8` bytes
   * @param levels gets `stride` bytes
   * @param factors gets the scale of the levels, the length of what they stand for, and that of what they leave over
   * @returns the cosine of the angle between the numbers that have signs and those signs; 1 where all are 0
   */
  encode(vector: Float32Array, signs: Uint8Array, levels: Uint8Array, factors: Float32Array): number {
    this.#rotate(vector);
    this.#levels.fill(0);
    this.#factors.fill(0);
    this.#kernel.encodeLevels(0, this.dimensions, STEP, this.#levels.byteOffset, this.#factors.byteOffset);
    const ratio = this.#kernel.signBits(this.#signed.byteOffset, this.bits, this.#signs.byteOffset);
    signs.set(this.#signs);
    levels.set(this.#levels);
    factors.set(this.#factors);
    return ratio === 0 ? 1 : ratio / Math.sqrt(this.bits);
  }

  query(vector: Float32Array): CodedQuery {
    const { dimensions } = this;
    this.#rotate(vector);
    const rotated = this.#vector.slice(0, dimensions);
    let [square, greatest] = [0, 0];
    for (const number of rotated) {
      square += number * number;
      greatest = Math.max(greatest, Math.abs(number));
    }
    // The kernel adds products of two rows of 15 at most in 32 bits.
    const most = Math.min(32_767, Math.floor(2 ** 30 / (15 * dimensions)));
    const scale = most / Math.max(greatest, 1e-30);
    const numbers = new Int16Array(2 * this.stride);
    for (let i = 0; i < dimensions; i++) numbers[i] = Math.round((rotated[i] as number) * scale);
    return {
      signs: this.#signTables(),
      numbers,
      scale,
      sum: numbers.reduce((sum, number) => sum + number, 0),
      length: Math.sqrt(square),
      square,
    };
  }

  /** What signs that differ from those of the numbers add up to. */
  #signTables(): CodedQuery['signs'] {
    const numbers = this.#signed;
    let [sum, square, most] = [0, 0, 0];
    for (let i = 0; i < numbers.length; i += 16) {
      let added = 0;
      for (const number of numbers.subarray(i, i + 16)) {
        added += Math.abs(number);
        square += number * number;
      }
      sum += added;
      most = Math.max(most, added);
    }
    const scale = most === 0 ? 0 : MOST_ADDED / most;
    const tables = new Uint8Array(4 * numbers.length);
    for (let at = 0; at < tables.length; at++) {
      let added = 0;
      for (let bit = 0; bit < 4; bit++) {
        const number = numbers[(at >> 4) * 4 + bit] as number;
        if (number > 0 !== ((at >> bit) & 1) > 0) added += Math.abs(number);
      }
      tables[at] = Math.round(added * scale);
    }
    return { tables, scale, sum, length: Math.sqrt(square) };
  }

  /** Rotates a vector by each rotation, and keeps the numbers that get signs; leaves what the first rotation gives. */
  #rotate(vector: Float32Array): void {
    const { dimensions } = this;
    for (let r = this.#rotations.length - 1; r >= 0; r--) {
      this.#vector.fill(0);
      this.#vector.set(vector);
      (this.#rotations[r] as Rotation).apply(this.#kernel, 0);
      this.#signed.set(this.#vector.subarray(0, Math.min(dimensions, this.bits - r * dimensions)), r * dimensions);
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

/** Hardly less than `likely` of {@link boundsOf}, and quicker. */
export function roughLikely(
  { scale, sum, square }: CodedQuery,
  _dimensions: number,
  dot: number,
  factor: number,
  length: number,
  rest: number,
): number {
  const squares = square + length * length + rest * rest;
  return squares * (1 - ROUNDING) - (2 * factor * (2 * dot - 15 * sum)) / scale;
}

/** Less than `low` of {@link boundsOf}, and quicker: it takes all of the query for the part that meets what is left over. */
export function roughLow(
  query: CodedQuery,
  dimensions: number,
  dot: number,
  factor: number,
  length: number,
  rest: number,
): number {
  const queryError = (Math.sqrt(dimensions) / (2 * query.scale)) * length;
  return roughLikely(query, dimensions, dot, factor, length, rest) - 2 * (rest * query.length + queryError);
}

/**
 * The greatest sum of signs that a row may have within a distance of a query.
 *
 * Where the angle between query and signs is greater than that between a row and its signs, the rest of it lies between
 * query and row; a row at an angle is at least as far as the sine of it tells, whatever its length is.
 *
 * @param copies of the vector, of which the signed numbers are parts: their distance is greater by its square root at most
 * @param angle the greatest angle between the signed numbers of a row and their signs, in radians
 */
export function mostSignSum({ signs }: CodedQuery, copies: number, angle: number, distance: number): number {
  const { tables, scale, sum, length } = signs;
  const sine = (distance * Math.sqrt(copies) * (1 + ROUNDING)) / length;
  if (!(sine < 1)) return MOST_SIGN_SUM;
  const most = Math.min(Math.PI, Math.asin(sine) + angle + 2 * ROUNDING);
  const product = (Math.cos(most) - ROUNDING) * length * Math.sqrt(tables.length / 4);
  // Each entry of a table is wrong by half a unit at most.
  return Math.min(MOST_SIGN_SUM, Math.ceil(((sum - product) / 2) * scale + tables.length / 32));
}
