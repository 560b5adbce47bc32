/** Numbers along axes, each around its mean if there is one: matrix times vector, the matrix row by row. */
export function project(axes: Float32Array, numbers: ArrayLike<number>, mean?: Float32Array): Float64Array {
  const width = numbers.length;
  const centered = new Float64Array(width);
  for (let i = 0; i < width; i++) centered[i] = (numbers[i] as number) - (mean?.[i] ?? 0);
  const along = new Float64Array(axes.length / width);
  for (let axis = 0, at = 0; axis < along.length; axis++) {
    let sum = 0;
    for (let i = 0; i < width; i++, at++) sum += (axes[at] as number) * (centered[i] as number);
    along[axis] = sum;
  }
  return along;
}
