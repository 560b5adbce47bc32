/** Scales a vector to length 1; the sum is in double precision. @throws Error for a zero vector */
export function l2Normalize(vector: ArrayLike<number>): Float32Array {
  const norm = length(vector);
  if (!(norm > 0 && norm < Number.POSITIVE_INFINITY)) throw new Error('A vector of zeros has no direction.');
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i++) unit[i] = (vector[i] as number) / norm;
  return unit;
}

export function length(vector: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  return Math.sqrt(sum);
}

/** The Euclidean distance of two vectors: 0 for equal ones, at most 2 for unit vectors. */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  return Math.sqrt(sum);
}

/** Values below this are those of a blank picture. */
const MIN_VALUE = 1e-6;

/** Scales to length 1. A zero vector, for example of a blank picture, becomes the first unit vector. */
export function unitOf(numbers: Float32Array): Float32Array {
  if (numbers.some((value) => Math.abs(value) > MIN_VALUE)) return l2Normalize(numbers);
  const first = new Float32Array(numbers.length);
  first[0] = 1;
  return first;
}
