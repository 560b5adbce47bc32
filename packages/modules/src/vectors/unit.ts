/** Scales a vector to length 1; the sum is in double precision. @throws Error for a zero vector */
export function l2Normalize(vector: ArrayLike<number>): Float32Array {
  const norm = length(vector);
  if (!(norm > 0 && norm < Number.POSITIVE_INFINITY)) throw new Error('A vector of zeros has no direction.');
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < vector.length; i++) unit[i] = (vector[i] as number) / norm;
  return unit;
}

/** The Euclidean length of a vector. */
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
