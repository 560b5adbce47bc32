/**
 * The pattern of light and dark in a picture, invariant under all eight orientations. A flip changes only signs of the
 * coefficients of a cosine transform: a left-right flip those with an odd horizontal frequency, a top-bottom flip those
 * with an odd vertical frequency. A rotation by a quarter also swaps horizontal and vertical. So the coefficients that
 * change sign together form a vector f, which is represented by f fᵀ, in which the signs cancel; coefficients that a
 * rotation swaps are added up. These are second-order invariants; they cost hardly more than a hash of one orientation.
 */

import { CROP_SIDE } from '../picture/picture.ts';

/** Side of the reduced picture that is transformed, and the number of frequencies kept in each direction. */
const PATTERN_SIDE = CROP_SIDE;
const KEPT = 8;
/**
 * Coefficients are divided by their mean strength, but at least by this, so that those of plain pictures stay small.
 */
const MIN_STRENGTH = 0.15;

/** cos(π u (x + ½) / `PATTERN_SIDE`), orthonormal, `KEPT` rows of `PATTERN_SIDE`. */
const WAVES = Float64Array.from({ length: KEPT * PATTERN_SIDE }, (_, i) => {
  const frequency = Math.floor(i / PATTERN_SIDE);
  const phase = (Math.PI * frequency * ((i % PATTERN_SIDE) + 0.5)) / PATTERN_SIDE;
  return Math.cos(phase) * Math.sqrt((frequency === 0 ? 1 : 2) / PATTERN_SIDE);
});

/** High frequencies are weaker in all pictures; these factors amplify them. */
const RISE = Float64Array.from({ length: KEPT * KEPT }, (_, i) => Math.hypot(Math.floor(i / KEPT), i % KEPT));

const EVEN = [0, 2, 4, 6] as const;
const ODD = [1, 3, 5, 7] as const;
const ODD_ODD = indexesOf(ODD, ODD);
const ODD_EVEN = indexesOf(ODD, EVEN);

/** Indexes of the coefficients of these vertical and horizontal frequencies, and their indexes after a quarter turn. */
function indexesOf(down: readonly number[], across: readonly number[]): { here: number[]; turned: number[] } {
  const pairs = down.flatMap((v) => across.map((u) => [v, u] as const));
  return { here: pairs.map(([v, u]) => KEPT * v + u), turned: pairs.map(([v, u]) => KEPT * u + v) };
}

/** Size of the result of `patternOf`. */
export const PATTERN_DIMENSIONS = 10 + 21 + 136 + 136;

/** @param light Brightness, 0…1, of a picture resized to `PATTERN_SIDE` x `PATTERN_SIDE` pixels, row by row. */
export function patternOf(light: Float64Array): Float64Array {
  const c = compressed(transform(light));
  const numbers = new Float64Array(PATTERN_DIMENSIONS);
  const swappedSign: number[] = [];
  let at = 0;
  for (const [i, v] of EVEN.entries()) {
    for (const u of EVEN.slice(i)) {
      const here = c[KEPT * v + u] as number;
      const there = c[KEPT * u + v] as number;
      numbers[at++] = u === v ? here : Math.SQRT1_2 * (here + there);
      if (u !== v) swappedSign.push(here - there);
    }
  }
  at = squares(numbers, at, [swappedSign]);
  for (const { here, turned } of [ODD_ODD, ODD_EVEN]) {
    const pick = (from: readonly number[]) => from.map((index) => c[index] as number);
    at = squares(numbers, at, [pick(here), pick(turned)]);
  }
  return numbers;
}

/** The coefficients of the lowest frequencies, row by row (rows are vertical frequencies). */
function transform(light: Float64Array): Float64Array {
  const across = new Float64Array(PATTERN_SIDE * KEPT);
  for (let y = 0; y < PATTERN_SIDE; y++) {
    for (let u = 0; u < KEPT; u++) {
      let sum = 0;
      for (let x = 0, from = y * PATTERN_SIDE, wave = u * PATTERN_SIDE; x < PATTERN_SIDE; x++, from++, wave++) {
        sum += (light[from] as number) * (WAVES[wave] as number);
      }
      across[y * KEPT + u] = sum;
    }
  }
  const both = new Float64Array(KEPT * KEPT);
  for (let v = 0; v < KEPT; v++) {
    for (let u = 0; u < KEPT; u++) {
      let sum = 0;
      for (let y = 0; y < PATTERN_SIDE; y++) {
        sum += (across[y * KEPT + u] as number) * (WAVES[v * PATTERN_SIDE + y] as number);
      }
      both[v * KEPT + u] = sum;
    }
  }
  return both;
}

/**
 * Compresses the range of the coefficients: removes the mean brightness, amplifies high frequencies and takes square
 * roots. Signs are kept; both directions are treated equally.
 */
function compressed(coefficients: Float64Array): Float64Array {
  const raised = coefficients.map((value, i) => value * (RISE[i] as number));
  const strength = Math.sqrt(raised.reduce((sum, value) => sum + value * value, 0) / raised.length);
  return raised.map((value) => Math.sign(value) * Math.sqrt(Math.abs(value) / Math.max(strength, MIN_STRENGTH)));
}

/**
 * Writes the mean of f fᵀ over the given vectors: its upper half row by row, scaled to the length of f. Returns the
 * end.
 */
function squares(numbers: Float64Array, from: number, vectors: readonly (readonly number[])[]): number {
  const size = vectors[0]?.length ?? 0;
  let at = from;
  let length = 0;
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) {
      let sum = 0;
      for (const f of vectors) sum += (f[i] as number) * (f[j] as number);
      const value = (i === j ? 1 : Math.SQRT2) * (sum / vectors.length);
      numbers[at++] = value;
      length += value * value;
    }
  }
  const scale = 1 / Math.max(Math.sqrt(Math.sqrt(length)), 1e-3);
  for (let i = from; i < at; i++) numbers[i] = (numbers[i] as number) * scale;
  return at;
}
