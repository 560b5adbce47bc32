/**
 * Projects a vector, minus the mean if given, onto axes: matrix times vector, the matrix row by row.
 * It computes four rows at the same time, because a single sum would wait for each addition; and two numbers in a step,
 * which takes three quarters of the time.
 */
export function project(axes: Float32Array, numbers: ArrayLike<number>, mean?: Float32Array): Float64Array {
  const width = numbers.length;
  const centered = new Float64Array(width);
  for (let i = 0; i < width; i++) centered[i] = (numbers[i] as number) - (mean?.[i] ?? 0);
  const count = axes.length / width;
  const along = new Float64Array(count);
  const even = width - (width % 2);
  for (let axis = 0; axis < count; axis += 4) {
    // Some of the last four rows may not exist: their sums are NaN and are not stored.
    let first = axis * width;
    let [second, third, fourth] = [first + width, first + 2 * width, first + 3 * width];
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < even; i += 2, first += 2, second += 2, third += 2, fourth += 2) {
      const here = centered[i] as number;
      const next = centered[i + 1] as number;
      // Evaluated from left to right, so that rounding equals that of one number a step; += would add both products
      // first.
      a = a + (axes[first] as number) * here + (axes[first + 1] as number) * next;
      b = b + (axes[second] as number) * here + (axes[second + 1] as number) * next;
      c = c + (axes[third] as number) * here + (axes[third + 1] as number) * next;
      d = d + (axes[fourth] as number) * here + (axes[fourth + 1] as number) * next;
    }
    if (even < width) {
      const last = centered[even] as number;
      a += (axes[first] as number) * last;
      b += (axes[second] as number) * last;
      c += (axes[third] as number) * last;
      d += (axes[fourth] as number) * last;
    }
    along[axis] = a;
    along[axis + 1] = b;
    along[axis + 2] = c;
    along[axis + 3] = d;
  }
  return along;
}
