import { createKernel, createMemory, type Kernel } from './kernel.ts';
import { Rotation } from './rotation.ts';

/*
 * Two codes of a vector that was rotated at random. Signs: one bit for each number of the first half of the rotated
 * vector. The query's numbers whose signs differ from a row's signs give an estimate of the angle between the two
 * vectors (as in Gao and Long, "RaBitQ", 2024). Signs of half of the numbers with the query's full numbers find
 * neighbours better than signs of all numbers with only the signs of the query. Levels: four bits for each rotated
 * number, in steps that suit a normal distribution (Max 1960), with the best scale and the length of the residual,
 * which bounds the error of a distance by levels.
 */

/** Shorter vectors are rotated several times to get this many signs: fewer signs are too inaccurate. */
const MIN_SIGNS = 128;
/** Two bytes of signs add at most this to a sum. The rounding of four table entries may add the rest up to 255. */
const MAX_ADDED = 253;
/** The best step of 16 uniform levels for a normal distribution with standard deviation 1 (Max 1960, table 2). */
const STEP = 0.3352;
/** Maximum rounding error of sums of f32, as a share of the sum of the lengths. */
const ROUNDING = 2e-5;

/** The sine of the smallest angle that sums of signs are expected for. */
const MIN_SINE = 0.1;

/** Larger than any sum of signs. */
export const MAX_SIGN_SUM = 0xffff;
/** Count of numbers that are stored with the levels of each row. */
export const FACTORS = 3;

/** A rotated vector in the format that the kernel compares with levels. */
export interface CodedVector {
  /** The rotated numbers as i16, times `scale`. */
  readonly numbers: Int16Array;
  readonly scale: number;
  readonly sum: number;
  readonly length: number;
  /** The square of the vector's length. */
  readonly square: number;
}

/** A query in the formats that the kernel compares with codes. */
export interface CodedQuery extends CodedVector {
  readonly signs: {
    /** For each group of four signs: what each of the 16 combinations adds to a row's sum, one byte each. */
    readonly tables: Uint8Array;
    /** How many units of a sum correspond to a magnitude of 1. */
    readonly scale: number;
    /** For the numbers that have signs: the sum of their magnitudes, and their length as a vector. */
    readonly sum: number;
    readonly length: number;
    readonly magnitudes: Float32Array;
  };
}

/** Sizes of the codes of vectors with one number of dimensions. */
export interface CodeSizes {
  /** Numbers of a rotated vector: at least 4. */
  readonly dimensions: number;
  /** Bits of the signs of a row, a multiple of 128. */
  readonly bits: number;
  /** Bytes of the levels of a row, a multiple of 16. */
  readonly stride: number;
}

/** @param numbers dimensions of the vectors */
export function codeSizes(numbers: number): CodeSizes {
  const dimensions = Math.max(4, numbers);
  return {
    dimensions,
    bits: Math.max(MIN_SIGNS, Math.ceil(dimensions / 2 / 128) * 128),
    stride: Math.ceil(dimensions / 32) * 16,
  };
}

/** Computes the codes of vectors with one number of dimensions. */
export class Coder implements CodeSizes {
  readonly dimensions: number;
  readonly bits: number;
  readonly stride: number;
  readonly #rotations: readonly Rotation[];
  readonly #kernel: Kernel;
  // Memory of the kernel: the vector, padded with zeros to whole blocks; the numbers that get signs; and the kernel's
  // output.
  readonly #vector: Float32Array;
  readonly #signed: Float32Array;
  readonly #signs: Uint8Array;
  readonly #levels: Uint8Array;
  readonly #factors: Float32Array;

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

  /** How often a vector is rotated: its signs come from this many rotated copies. */
  get copies(): number {
    return this.#rotations.length;
  }

  /**
   * @param signs receives `bits / 8` bytes
   * @param levels receives `stride` bytes
   * @param factors receives the scale of the levels, the length of the vector that the levels represent, and the length
   * of the residual
   * @returns the cosine of the angle between the numbers that have signs and those signs; 1 if all numbers are 0
   */
  encode(vector: Float32Array, signs: Uint8Array, levels: Uint8Array, factors: Float32Array): number {
    this.#rotate(vector);
    this.#encodeLevels(levels, factors);
    const ratio = this.#kernel.signBits(this.#signed.byteOffset, this.bits, this.#signs.byteOffset);
    signs.set(this.#signs);
    return ratio === 0 ? 1 : ratio / Math.sqrt(this.bits);
  }

  /** Computes the levels of a vector that was rotated already. The parameters are those of {@link Coder.encode}. */
  encodeRotated(rotated: Float32Array, levels: Uint8Array, factors: Float32Array): void {
    this.#vector.fill(0);
    this.#vector.set(rotated);
    this.#encodeLevels(levels, factors);
  }

  #encodeLevels(levels: Uint8Array, factors: Float32Array): void {
    this.#levels.fill(0);
    this.#factors.fill(0);
    this.#kernel.encodeLevels(0, this.dimensions, STEP, this.#levels.byteOffset, this.#factors.byteOffset);
    levels.set(this.#levels);
    factors.set(this.#factors);
  }

  query(vector: Float32Array): CodedQuery {
    return { ...this.numbers(vector), signs: this.#signTables() };
  }

  /** The numbers of a query that is compared only by levels. */
  numbers(vector: Float32Array): CodedVector {
    this.#rotate(vector);
    return this.codeNumbers(this.#vector.subarray(0, this.dimensions));
  }

  /** @param rotated a vector that was rotated already */
  codeNumbers(rotated: Float32Array): CodedVector {
    const { dimensions } = this;
    let [square, greatest] = [0, 0];
    for (const number of rotated) {
      square += number * number;
      greatest = Math.max(greatest, Math.abs(number));
    }
    // The kernel adds products of the levels of a row (15 at most) and these numbers in 32 bits.
    const max = Math.min(32_767, Math.floor(2 ** 30 / (15 * dimensions)));
    const scale = max / Math.max(greatest, 1e-30);
    const numbers = new Int16Array(2 * this.stride);
    for (let i = 0; i < dimensions; i++) numbers[i] = Math.round((rotated[i] as number) * scale);
    return {
      numbers,
      scale,
      sum: numbers.reduce((sum, number) => sum + number, 0),
      length: Math.sqrt(square),
      square,
    };
  }

  /** For each combination of signs: the sum of the numbers whose signs differ. */
  #signTables(): CodedQuery['signs'] {
    const numbers = this.#signed;
    let [sum, square, max] = [0, 0, 0];
    for (let i = 0; i < numbers.length; i += 16) {
      let added = 0;
      for (const number of numbers.subarray(i, i + 16)) {
        added += Math.abs(number);
        square += number * number;
      }
      sum += added;
      max = Math.max(max, added);
    }
    const scale = max === 0 ? 0 : MAX_ADDED / max;
    const tables = new Uint8Array(4 * numbers.length);
    for (let at = 0; at < tables.length; at++) {
      let added = 0;
      for (let bit = 0; bit < 4; bit++) {
        const number = numbers[(at >> 4) * 4 + bit] as number;
        if (number > 0 !== ((at >> bit) & 1) > 0) added += Math.abs(number);
      }
      tables[at] = Math.round(added * scale);
    }
    return { tables, scale, sum, length: Math.sqrt(square), magnitudes: numbers.map(Math.abs) };
  }

  /**
   * Rotates a vector by each rotation and keeps the numbers that get signs. The result of the first rotation stays in
   * memory.
   */
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

/**
 * Lower bound, upper bound and best estimate of the squared distance between a row, known by its levels, and a query.
 */
export interface Bounds {
  low: number;
  estimate: number;
  high: number;
}

/**
 * Computes the bounds by the triangle inequality. The residual of a row is orthogonal to its levels, so only the
 * orthogonal part of the query affects their product.
 *
 * @param dot result of the kernel's `levelDots` for the row
 * @param bounds receives the result
 */
export function boundsOf(
  { scale, sum, square }: CodedVector,
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
  // Rounding changes each number of the query by at most half a unit.
  const queryError = (Math.sqrt(dimensions) / (2 * scale)) * length;
  const squares = square + length * length + rest * rest;
  const slack = 2 * (rest * across + queryError) + ROUNDING * squares + 1e-12;
  const estimate = squares - 2 * along * length;
  bounds.estimate = Math.max(0, estimate);
  bounds.low = Math.max(0, estimate - slack);
  bounds.high = Math.max(0, estimate + slack);
}

/** An estimate that is faster than `estimate` of {@link boundsOf}, and slightly smaller. */
export function roughEstimate(
  { scale, sum, square }: CodedVector,
  dot: number,
  factor: number,
  length: number,
  rest: number,
): number {
  const squares = square + length * length + rest * rest;
  return squares * (1 - ROUNDING) - (2 * factor * (2 * dot - 15 * sum)) / scale;
}

/**
 * Coefficients of a lower bound: {@link roughEstimate}, minus `ofRest` times the length of the residual, minus
 * `ofLength` times the length of the levels.
 */
export interface RoughSlack {
  readonly ofRest: number;
  readonly ofLength: number;
}

export const NO_SLACK: RoughSlack = { ofRest: 0, ofLength: 0 };

/**
 * Returns the coefficients of a lower bound that is faster than `low` of {@link boundsOf}, but smaller: the whole query
 * counts as orthogonal to the levels.
 */
export function roughSlack({ scale, length }: CodedVector, dimensions: number): RoughSlack {
  return { ofRest: 2 * length, ofLength: Math.sqrt(dimensions) / scale };
}

/**
 * Maximum sum of signs of a row within a distance of a query.
 * If the angle between the query and the signs is larger than the angle between the row and its signs, the difference
 * is a lower bound of the angle between query and row. At that angle, the distance is at least its sine, for any length
 * of the row.
 *
 * @param copies number of copies of the vector in the signed numbers: their distance is greater by at most the square
 *   root of this number
 * @param angle maximum angle between the signed numbers of a row and their signs, in radians
 */
export function maxSignSum({ signs }: CodedQuery, copies: number, angle: number, distance: number): number {
  const { tables, scale, sum, length } = signs;
  const sine = (distance * Math.sqrt(copies) * (1 + ROUNDING)) / length;
  if (!(sine < 1)) return MAX_SIGN_SUM;
  const max = Math.min(Math.PI, Math.asin(sine) + angle + 2 * ROUNDING);
  const product = (Math.cos(max) - ROUNDING) * length * Math.sqrt(tables.length / 4);
  // Rounding changes each entry of a table by at most half a unit.
  return Math.min(MAX_SIGN_SUM, Math.ceil(((sum - product) / 2) * scale + tables.length / 32));
}

/**
 * The mean sum of signs of rows at an angle to a query, plus a number of standard deviations, which rows rarely exceed.
 * The numbers of two vectors that were rotated at random are correlated normal variables, so the
 * probability that two signs differ follows from the cosine and the query's number.
 *
 * @param cosine the cosine of the angle
 */
export function expectedSignSum(
  { signs, length }: CodedQuery,
  dimensions: number,
  cosine: number,
  deviations: number,
): number {
  const along = Math.max(-1, Math.min(1, cosine));
  // Levels hardly tell smaller angles apart, and rounding changes the signs of numbers near zero.
  const across = Math.max(MIN_SINE, Math.sqrt(1 - along * along));
  const slope = (along * Math.sqrt(dimensions)) / (across * length);
  let [mean, variance] = [0, 0];
  for (const magnitude of signs.magnitudes) {
    const share = normalShare(-slope * magnitude);
    mean += magnitude * share;
    variance += magnitude * magnitude * share * (1 - share);
  }
  return signs.scale * (mean + deviations * Math.sqrt(variance));
}

/** The share of a normal distribution below `x` standard deviations (Abramowitz and Stegun 1964, 26.2.17). */
function normalShare(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = series * 0.3989422804 * Math.exp((-x * x) / 2);
  return x < 0 ? tail : 1 - tail;
}
