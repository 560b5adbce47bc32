import { l2Normalize, length } from '../vectors/unit.ts';

/** How much the gradients count against what the network sees. */
const GRADIENT_WEIGHT = 0.4;

/**
 * What the network sees: its content head, and the averaged channels of its trunk as square roots, at length 1: strong
 * channels do not drown the others. 256 and 1,024 numbers.
 */
export function seenOf(head: Float32Array, pool: Float32Array): Float64Array {
  const seen = new Float64Array(head.length + pool.length);
  seen.set(head);
  seen.set(rootsOf(pool), head.length);
  return seen;
}

/** Square roots at length 1. */
export function rootsOf(pool: Float32Array): Float64Array {
  return scaled(
    Float64Array.from(pool, (value) => Math.sqrt(Math.max(0, value))),
    1,
  );
}

/** The unit vector of both views side by side, each of a length of its own. */
export function joinViews(seen: Float64Array, gradients: Float64Array): Float32Array {
  return l2Normalize([...scaled(seen, 1), ...scaled(gradients, GRADIENT_WEIGHT)]);
}

function scaled(vector: Float64Array, to: number): Float64Array {
  const norm = length(vector);
  return norm === 0 ? vector : vector.map((value) => (value * to) / norm);
}
