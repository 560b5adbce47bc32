import { length } from '../vectors/unit.ts';

/** How much the trunk's channels and the gradients count against the network's content head. */
const POOL_WEIGHT = 0.7;
const GRADIENT_WEIGHT = 0.4;

/** The averaged channels of the trunk as square roots, at length 1: strong channels do not drown the others. */
export function rootsOf(pool: Float32Array): Float64Array {
  const roots = Float64Array.from(pool, (value) => Math.sqrt(Math.max(0, value)));
  const norm = length(roots);
  return norm === 0 ? roots : roots.map((value) => value / norm);
}

/** The three parts side by side: the head, of length 1, and the others as their weights say. */
export function joinViews(head: ArrayLike<number>, pool: Float64Array, gradients: Float64Array): Float64Array {
  const joined = new Float64Array(head.length + pool.length + gradients.length);
  joined.set(head);
  joined.set(scaled(pool, POOL_WEIGHT), head.length);
  joined.set(scaled(gradients, GRADIENT_WEIGHT), head.length + pool.length);
  return joined;
}

function scaled(vector: Float64Array, to: number): Float64Array {
  const norm = length(vector);
  return norm === 0 ? vector : vector.map((value) => (value * to) / norm);
}
