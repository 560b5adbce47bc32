import { type Pixels, resizeArea } from '@akin/imaging';
import { trimBars } from '../trim.ts';

/**
 * The pattern of light and dark in a picture, the same for all eight ways to turn and flip it.
 *
 * The coefficients of a cosine transform change only their signs when a picture is flipped: those of an odd frequency
 * across change with left and right, those of an odd one down with top and bottom. A turn also swaps across and down.
 * So coefficients that change together are taken as one vector f, and f fᵀ stands for it, in which both signs cancel;
 * what a turn swaps is added up. Known as second-order invariants; compared to hashes of one orientation it costs next
 * to nothing.
 */

/** Side of the small version that is transformed, and the number of frequencies kept each way. */
const SIDE = 64;
const KEPT = 8;
/** Coefficients are divided by their own mean strength, but by no less than this: plain pictures stay weak. */
const LEAST_STRENGTH = 0.15;

/** cos(π u (x + ½) / 64), orthonormal, `KEPT` rows of `SIDE`. */
const WAVES = Float64Array.from({ length: KEPT * SIDE }, (_, i) => {
  const frequency = Math.floor(i / SIDE);
  return Math.cos((Math.PI * frequency * ((i % SIDE) + 0.5)) / SIDE) * Math.sqrt((frequency === 0 ? 1 : 2) / SIDE);
});

const EVEN = [0, 2, 4, 6] as const;
const ODD = [1, 3, 5, 7] as const;

/** How many numbers `patternOf` gives. */
export const PATTERN_NUMBERS = 10 + 21 + 136 + 136;

export interface Pattern {
  readonly numbers: Float64Array;
  /** Standard deviation of the brightness inside the bars, 0…1. */
  readonly contrast: number;
}

/** Looks at the picture without plain bars around it, squashed to a square. */
export function patternOf(pixels: Pixels): Pattern {
  const { data } = resizeArea(trimBars(pixels), SIDE, SIDE);
  const light = Float64Array.from(
    { length: SIDE * SIDE },
    (_, i) => (0.299 * (data[3 * i] ?? 0) + 0.587 * (data[3 * i + 1] ?? 0) + 0.114 * (data[3 * i + 2] ?? 0)) / 255,
  );
  const c = even(transform(light));
  const at = (v: number, u: number) => c[KEPT * v + u] as number;
  const pick = (rows: readonly number[], columns: readonly number[], swapped = false) =>
    rows.flatMap((v) => columns.map((u) => (swapped ? at(u, v) : at(v, u))));

  const unsigned: number[] = [];
  const swappedSign: number[] = [];
  for (const [i, v] of EVEN.entries()) {
    for (const u of EVEN.slice(i)) {
      unsigned.push(u === v ? at(v, u) : Math.SQRT1_2 * (at(v, u) + at(u, v)));
      if (u !== v) swappedSign.push(at(v, u) - at(u, v));
    }
  }
  return {
    numbers: Float64Array.from([
      ...unsigned,
      ...squares([swappedSign]),
      ...squares([pick(ODD, ODD), pick(ODD, ODD, true)]),
      ...squares([pick(ODD, EVEN), pick(ODD, EVEN, true)]),
    ]),
    contrast: deviation(light),
  };
}

/** The coefficients of the lowest frequencies, row (down) by row. */
function transform(light: Float64Array): Float64Array {
  const across = new Float64Array(SIDE * KEPT);
  for (let y = 0; y < SIDE; y++) {
    for (let u = 0; u < KEPT; u++) {
      let sum = 0;
      for (let x = 0; x < SIDE; x++) sum += (light[y * SIDE + x] as number) * (WAVES[u * SIDE + x] as number);
      across[y * KEPT + u] = sum;
    }
  }
  const both = new Float64Array(KEPT * KEPT);
  for (let v = 0; v < KEPT; v++) {
    for (let u = 0; u < KEPT; u++) {
      let sum = 0;
      for (let y = 0; y < SIDE; y++) sum += (across[y * KEPT + u] as number) * (WAVES[v * SIDE + y] as number);
      both[v * KEPT + u] = sum;
    }
  }
  return both;
}

/**
 * Makes coefficients of like weight: the mean brightness is dropped, high frequencies, which are weaker in all pictures,
 * are raised, and square roots are taken. All of it keeps signs, and treats across and down alike.
 */
function even(coefficients: Float64Array): Float64Array {
  const raised = coefficients.map((value, i) => value * Math.hypot(Math.floor(i / KEPT), i % KEPT));
  const strength = Math.sqrt(raised.reduce((sum, value) => sum + value * value, 0) / raised.length);
  return raised.map((value) => Math.sign(value) * Math.sqrt(Math.abs(value) / Math.max(strength, LEAST_STRENGTH)));
}

/** The mean of f fᵀ over the vectors given, its upper half row by row, with the length that f has. */
function squares(vectors: readonly (readonly number[])[]): number[] {
  const size = vectors[0]?.length ?? 0;
  const sums: number[] = [];
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) {
      const sum = vectors.reduce((all, f) => all + (f[i] as number) * (f[j] as number), 0);
      sums.push((i === j ? 1 : Math.SQRT2) * (sum / vectors.length));
    }
  }
  const length = Math.sqrt(Math.hypot(...sums));
  return sums.map((sum) => sum / Math.max(length, 1e-3));
}

function deviation(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
