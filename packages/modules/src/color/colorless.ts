import { CENTRES } from './centres.ts';
import { addColor, DIMENSIONS } from './descriptor.ts';

const LIGHTNESS = Float64Array.from({ length: DIMENSIONS }, (_, k) => CENTRES[3 * k] as number);
const CHROMA = Float64Array.from({ length: DIMENSIONS }, (_, k) =>
  Math.hypot(CENTRES[3 * k + 1] as number, CENTRES[3 * k + 2] as number),
);
const BY_LIGHTNESS = [...LIGHTNESS.keys()].sort((a, b) => (LIGHTNESS[a] as number) - (LIGHTNESS[b] as number));

/** For each centre, its chroma without that which a grey of the same lightness gets from being spread over centres. */
const EXCESS = LIGHTNESS.map((lightness, k) => {
  const shares = new Float64Array(DIMENSIONS);
  addColor(shares, lightness, 0, 0, 1, new Float64Array(DIMENSIONS));
  return (CHROMA[k] as number) - shares.reduce((sum, share, i) => sum + share * (CHROMA[i] as number), 0);
});

/** Of 80 black-and-white copies of photos, none has more. Of 1,800 photos, a fifth has less: those in dull colours. */
const MAX_CHROMA = 0.003;
/**
 * Of black-and-white copies, 39 of 40 are this near to their originals. Of pairs of other photos, one in four is; they
 * are told apart by other modules.
 */
const MAX_LIGHTNESS_DISTANCE = 0.05;

/** The numbers that decide, for the name of a rule. */
export const COLORLESS_RULE = `${MAX_CHROMA} ${MAX_LIGHTNESS_DISTANCE}`;

/**
 * Whether one of two pictures is black and white, and both have the same shades: the earth mover's distance of their
 * lightnesses, which the 64 shares of the descriptors are folded to, is small.
 *
 * @param a descriptors of the module color
 */
export function areShadesOfOne(a: Float32Array, b: Float32Array): boolean {
  if (!isColorless(a) && !isColorless(b)) return false;
  let [distance, ahead] = [0, 0];
  for (const [i, k] of BY_LIGHTNESS.entries()) {
    ahead += (a[k] as number) ** 2 - (b[k] as number) ** 2;
    const next = BY_LIGHTNESS[i + 1];
    if (next !== undefined) distance += Math.abs(ahead) * ((LIGHTNESS[next] as number) - (LIGHTNESS[k] as number));
  }
  return distance <= MAX_LIGHTNESS_DISTANCE;
}

function isColorless(descriptor: Float32Array): boolean {
  return descriptor.reduce((sum, root, k) => sum + root * root * (EXCESS[k] as number), 0) < MAX_CHROMA;
}
