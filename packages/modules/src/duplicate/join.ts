import { createRandom } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import { l2Normalize } from '../vectors/unit.ts';

/** Weights of the three parts. */
const WEIGHTS = { network: 1, pattern: 0.4, hues: 0.6 } as const;

/** A picture with contrast (0…1) below the first number is blank; from the second on it is treated normally. */
const BLANK = 0.008;
export const CLEAR = 0.03;

/** Side of the reduced picture that distinguishes blank pictures. */
const SIDE = 32;

/**
 * Joins the three parts, each of unit length, to the descriptor. Nearly blank pictures would be similar to each other
 * although they are unrelated. So the lower the contrast, the more a pseudorandom direction from the pixels replaces
 * the descriptor: equal files still match, and different pictures are far apart.
 */
export function combineFeatures(
  { network, pattern, hues }: Readonly<Record<keyof typeof WEIGHTS, ArrayLike<number>>>,
  contrast: number,
  pixels: Pixels,
): Float32Array {
  const joined = l2Normalize([
    ...Array.from(network, (value) => WEIGHTS.network * value),
    ...Array.from(pattern, (value) => WEIGHTS.pattern * value),
    ...Array.from(hues, (value) => WEIGHTS.hues * value),
  ]);
  const clear = Math.min(1, Math.max(0, (contrast - BLANK) / (CLEAR - BLANK)));
  if (clear === 1) return joined;
  const lot = pseudorandomDirection(pixels, joined.length);
  return l2Normalize(joined.map((value, i) => clear * value + (1 - clear) * (lot[i] as number)));
}

/** A pseudorandom unit vector from the reduced picture; any change of its pixels gives an unrelated vector. */
function pseudorandomDirection(pixels: Pixels, dimensions: number): Float32Array {
  const { data } = resizeArea(pixels, SIDE, SIDE);
  // The FNV-1a hash of the bytes is the seed of a generator (mulberry32).
  let state = 0x811c9dc5;
  for (const byte of data) state = Math.imul(state ^ byte, 0x01000193) >>> 0;
  const random = createRandom(state);
  return l2Normalize(Array.from({ length: dimensions }, () => random() + random() + random() - 1.5));
}
