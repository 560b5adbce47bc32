export interface Rows {
  readonly count: number;
  readonly width: number;
  readonly values: Float32Array;
}

export function row(rows: Rows, index: number): Float32Array {
  return rows.values.subarray(index * rows.width, (index + 1) * rows.width);
}

export function toRows(vectors: readonly ArrayLike<number>[], width: number): Rows {
  const values = new Float32Array(vectors.length * width);
  for (const [i, vector] of vectors.entries()) values.set(vector, i * width);
  return { count: vectors.length, width, values };
}
