import { l2Normalize, length } from '../vectors/unit.ts';

/** Weight of the gradients relative to the network's values. */
const GRADIENT_WEIGHT = 0.4;

/**
 * The network's values: its content head (256 numbers), and the averaged channels of its trunk (1,024 numbers) as
 * square roots at length 1, so that strong channels do not dominate the others.
 */
export function networkFeatures(head: Float32Array, pool: Float32Array): Float64Array {
  const seen = new Float64Array(head.length + pool.length);
  seen.set(head);
  seen.set(rootsOf(pool), head.length);
  return seen;
}

export function rootsOf(pool: Float32Array): Float64Array {
  return scaled(
    Float64Array.from(pool, (value) => Math.sqrt(Math.max(0, value))),
    1,
  );
}

export function concatenateFeatures(seen: Float64Array, gradients: Float64Array): Float32Array {
  return l2Normalize([...scaled(seen, 1), ...scaled(gradients, GRADIENT_WEIGHT)]);
}

function scaled(vector: Float64Array, to: number): Float64Array {
  const norm = length(vector);
  return norm === 0 ? vector : vector.map((value) => (value * to) / norm);
}
