/**
 * Numbers along axes, each around its mean if there is one: matrix times vector, the matrix row by row.
 *
 * Four rows side by side: one sum alone waits for each of its additions, twice as long.
 */
export function project(axes: Float32Array, numbers: ArrayLike<number>, mean?: Float32Array): Float64Array {
  const width = numbers.length;
  const centered = new Float64Array(width);
  for (let i = 0; i < width; i++) centered[i] = (numbers[i] as number) - (mean?.[i] ?? 0);
  const count = axes.length / width;
  const along = new Float64Array(count);
  for (let axis = 0; axis < count; axis += 4) {
    // Of the last four some may not be there: undefined times a number, which nobody keeps.
    const first = axis * width;
    const [second, third, fourth] = [first + width, first + 2 * width, first + 3 * width];
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < width; i++) {
      const number = centered[i] as number;
      a += (axes[first + i] as number) * number;
      b += (axes[second + i] as number) * number;
      c += (axes[third + i] as number) * number;
      d += (axes[fourth + i] as number) * number;
    }
    along[axis] = a;
    along[axis + 1] = b;
    along[axis + 2] = c;
    along[axis + 3] = d;
  }
  return along;
}
