import { createRandom } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import { l2Normalize } from '../vectors/unit.ts';

/** How much each view counts. */
const WEIGHTS = { network: 1, pattern: 0.4, hues: 0.6 } as const;

/** Contrast (0…1) below which a picture is blank, and from which on it is a picture like any other. */
const BLANK = 0.008;
export const CLEAR = 0.03;

/** Side of the small version that distinguishes blank pictures. */
const SIDE = 32;

/**
 * The descriptor of the three parts, each of unit length. Nearly blank pictures look alike to all, though they come from
 * anywhere; so the less contrast one has, the more its descriptor is a direction drawn by lot from its pixels: equal
 * files still agree, and non-matching pictures are far apart.
 */
export function joinParts(
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
  const lot = drawnDirection(pixels, joined.length);
  return l2Normalize(joined.map((value, i) => clear * value + (1 - clear) * (lot[i] as number)));
}

/** A unit vector that any change of the picture's small version changes altogether. */
function drawnDirection(pixels: Pixels, dimensions: number): Float32Array {
  const { data } = resizeArea(pixels, SIDE, SIDE);
  // FNV-1a of the bytes seeds a generator (mulberry32).
  let state = 0x811c9dc5;
  for (const byte of data) state = Math.imul(state ^ byte, 0x01000193) >>> 0;
  const random = createRandom(state);
  return l2Normalize(Array.from({ length: dimensions }, () => random() + random() + random() - 1.5));
}
