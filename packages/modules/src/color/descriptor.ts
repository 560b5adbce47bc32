import { CENTRES } from './centres.ts';

export const DIMENSIONS = CENTRES.length / 3;

/** A colour is spread over the centres within this distance, in units of oklab.ts: two to ten centres. */
const REACH = 0.36;

/**
 * Spreads one colour over the nearby centres and adds the parts to `shares`; the parts sum to `weight`. The kernel (1 -
 * d²/reach²)³ is smooth, so similar colours overlap, and a small change of a colour is a small change of the shares.
 */
export function addColor(
  shares: Float64Array,
  lightness: number,
  a2: number,
  b2: number,
  weight: number,
  near: Float64Array,
): void {
  let sum = 0;
  for (let k = 0, at = 0; k < DIMENSIONS; k++, at += 3) {
    const x = lightness - (CENTRES[at] as number);
    const y = a2 - (CENTRES[at + 1] as number);
    const z = b2 - (CENTRES[at + 2] as number);
    const rest = 1 - (x * x + y * y + z * z) / (REACH * REACH);
    const kernel = rest > 0 ? rest * rest * rest : 0;
    near[k] = kernel;
    sum += kernel;
  }
  for (let k = 0; k < DIMENSIONS; k++) shares[k] = (shares[k] as number) + (weight * (near[k] as number)) / sum;
}

/**
 * Converts the shares of the 64 centres to a unit vector: their square roots. The L2 distance of two such vectors is √2
 * times Hellinger's distance of the distributions, in which a small accent counts for more than its area.
 */
export function unitVector(shares: Float64Array): Float32Array {
  let sum = 0;
  for (const share of shares) sum += share;
  return Float32Array.from(shares, (share) => Math.sqrt(share / sum));
}
