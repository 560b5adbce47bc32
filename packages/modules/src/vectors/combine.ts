import { badRequest, roundToHalves } from '@akin/domain';
import { length } from './unit.ts';

/** Shorter sums have no direction. */
const MIN_LENGTH = 1e-3;

/**
 * The query for several inputs: their weighted sum in half precision, scaled to the length of the inputs (1 except for
 * rounding). A single input, or the same one several times, is returned unchanged, so that its picture still has
 * distance 0.
 *
 * @param vectors Descriptors of one module.
 * @param weights One for each vector; negative weights move the query away. Only their ratios matter.
 * @throws {AkinError} bad-request when the inputs cancel each other out.
 */
export function combine(vectors: readonly Float32Array[], weights: readonly number[]): Float32Array {
  const [first] = vectors;
  if (first === undefined || vectors.length !== weights.length) throw new Error('Each vector needs one weight.');
  // The loops below would only multiply by 1.
  if (vectors.length === 1 && (weights[0] as number) > 0 && length(first) > MIN_LENGTH) return roundToHalves(first);
  const sum = new Float64Array(first.length);
  // Divided by the largest weight, so that the sum cannot overflow.
  const heaviest = Math.max(...weights.map(Math.abs));
  let wanted = 0;
  let total = 0;
  for (const [at, vector] of vectors.entries()) {
    const weight = (weights[at] as number) / heaviest;
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + weight * (vector[i] as number);
    wanted += Math.abs(weight) * length(vector);
    total += Math.abs(weight);
  }
  const norm = length(sum);
  // The negated condition also detects NaN, from weights that are all 0.
  if (!(norm > MIN_LENGTH)) {
    throw badRequest('The inputs cancel each other out. Change rank.weights or leave an input out.');
  }
  const scale = wanted / total / norm;
  return roundToHalves(sum.map((value) => value * scale));
}
