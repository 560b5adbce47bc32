import type { Rows } from '@akin/modules/internal/learn/rows';

/** The mean of all rows. */
export function mean(rows: Rows): Float64Array {
  const sum = new Float64Array(rows.width);
  for (let i = 0; i < rows.count; i++) {
    for (let j = 0; j < rows.width; j++) sum[j] = (sum[j] as number) + (rows.values[i * rows.width + j] as number);
  }
  return sum.map((value) => value / Math.max(1, rows.count));
}

/** The covariance matrix around `center`, row by row. */
export function covariance(rows: Rows, center: Float64Array): Float64Array {
  const { count, width } = rows;
  const matrix = new Float64Array(width * width);
  const difference = new Float64Array(width);
  for (let i = 0; i < count; i++) {
    const from = i * width;
    for (let j = 0; j < width; j++) difference[j] = (rows.values[from + j] as number) - (center[j] as number);
    for (let j = 0; j < width; j++) {
      const factor = difference[j] as number;
      const at = j * width;
      for (let k = j; k < width; k++) matrix[at + k] = (matrix[at + k] as number) + factor * (difference[k] as number);
    }
  }
  for (let j = 0; j < width; j++) {
    for (let k = j; k < width; k++) {
      const value = (matrix[j * width + k] as number) / Math.max(1, count);
      matrix[j * width + k] = value;
      matrix[k * width + j] = value;
    }
  }
  return matrix;
}

/** Eigenvalues of a symmetric matrix in descending order, and their unit eigenvectors, row by row. */
export interface Eigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

const SWEEPS = 60;

/**
 * Cyclic Jacobi rotations (Golub & Van Loan, Matrix Computations, 8.5): slow, short and exact. A library would change
 * signs and last digits, and then the shipped codebooks and axes could not be reproduced byte for byte.
 */
export function eigen(symmetric: Float64Array, size: number): Eigen {
  const a = symmetric.slice();
  const v = new Float64Array(size * size);
  for (let i = 0; i < size; i++) v[i * size + i] = 1;
  const trace = a.reduce((sum, value) => sum + value * value, 0);
  for (let sweep = 0; sweep < SWEEPS && offDiagonal(a, size) > 1e-22 * trace; sweep++) {
    for (let p = 0; p < size - 1; p++) {
      for (let q = p + 1; q < size; q++) rotate(a, v, size, p, q);
    }
  }
  const order = Array.from({ length: size }, (_, i) => i).sort(
    (i, j) => (a[j * size + j] as number) - (a[i * size + i] as number),
  );
  const vectors = new Float64Array(size * size);
  for (const [i, from] of order.entries()) vectors.set(v.subarray(from * size, (from + 1) * size), i * size);
  return { values: Float64Array.from(order, (i) => a[i * size + i] as number), vectors };
}

function offDiagonal(a: Float64Array, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i++) {
    for (let j = i + 1; j < size; j++) sum += (a[i * size + j] as number) ** 2;
  }
  return sum;
}

/**
 * Rotates the plane of axes p and q so that the element (p, q) becomes zero; applies the same rotation to the rows of
 * `v`.
 */
function rotate(a: Float64Array, v: Float64Array, size: number, p: number, q: number): void {
  const apq = a[p * size + q] as number;
  if (apq === 0) return;
  const theta = ((a[q * size + q] as number) - (a[p * size + p] as number)) / (2 * apq);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let i = 0, ip = p, iq = q; i < size; i++, ip += size, iq += size) turn(a, ip, iq, c, s);
  for (let i = 0, pi = p * size, qi = q * size; i < size; i++, pi++, qi++) {
    turn(a, pi, qi, c, s);
    turn(v, pi, qi, c, s);
  }
}

function turn(m: Float64Array, first: number, second: number, c: number, s: number): void {
  const x = m[first] as number;
  const y = m[second] as number;
  m[first] = c * x - s * y;
  m[second] = s * x + c * y;
}

/** a (n x k, row by row) times the transpose of b (m x k): n x m. */
export function timesTransposed(a: ArrayLike<number>, b: ArrayLike<number>, k: number): Float64Array {
  const n = a.length / k;
  const m = b.length / k;
  const product = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let x = i * k, y = j * k, end = x + k; x < end; x++, y++) sum += (a[x] as number) * (b[y] as number);
      product[i * m + j] = sum;
    }
  }
  return product;
}

export function transpose(a: Float64Array, columns: number): Float64Array {
  const rows = a.length / columns;
  const result = new Float64Array(a.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) result[j * rows + i] = a[i * columns + j] as number;
  }
  return result;
}

/** The orthogonal matrix nearest to a square one (its polar factor): a (aᵀa)^(-1/2). */
export function nearestOrthogonal(a: Float64Array, size: number): Float64Array {
  const columns = transpose(a, size);
  const { values, vectors } = eigen(timesTransposed(columns, columns, size), size);
  // aᵀa = Vᵀ D V with eigenvectors as rows of V, so its inverse root is Vᵀ D^(-1/2) V.
  const scaled = vectors.map((value, i) => value / Math.sqrt(Math.max(values[Math.floor(i / size)] as number, 1e-30)));
  const inverseRoot = timesTransposed(transpose(scaled, size), transpose(vectors, size), size);
  return timesTransposed(a, inverseRoot, size);
}

const TURNS = 30;

/**
 * The largest eigenvalues of a positive semidefinite matrix and their eigenvectors, by orthogonal iteration (Golub &
 * Van Loan, 8.2). For large matrices, for which `eigen` would take minutes. The last eigenvectors are mixed with the
 * next ones, which matters little because those are discarded.
 */
export function mainEigen(symmetric: Float64Array, size: number, count: number, random: () => number): Eigen {
  let basis = orthonormal(
    Float64Array.from({ length: count * size }, () => random() - 0.5),
    size,
  );
  for (let turn = 0; turn < TURNS; turn++) basis = orthonormal(timesTransposed(basis, symmetric, size), size);
  const within = timesTransposed(timesTransposed(basis, symmetric, size), basis, size);
  const { values, vectors } = eigen(within, count);
  return { values, vectors: timesTransposed(vectors, transpose(basis, size), count) };
}

/** Makes rows orthonormal, each to the rows before it (Gram-Schmidt, twice for exactness). */
function orthonormal(rows: Float64Array, width: number): Float64Array {
  for (let from = 0; from < rows.length; from += width) {
    for (let pass = 0; pass < 2; pass++) {
      for (let other = 0; other < from; other += width) {
        let along = 0;
        for (let i = 0; i < width; i++) along += (rows[from + i] as number) * (rows[other + i] as number);
        for (let i = 0; i < width; i++) {
          rows[from + i] = (rows[from + i] as number) - along * (rows[other + i] as number);
        }
      }
    }
    let norm = 0;
    for (let i = 0; i < width; i++) norm += (rows[from + i] as number) ** 2;
    const scale = 1 / Math.max(Math.sqrt(norm), 1e-30);
    for (let i = 0; i < width; i++) rows[from + i] = (rows[from + i] as number) * scale;
  }
  return rows;
}

/** Scales axes so that the largest number is 1 and fits half precision; only directions matter. */
export function scaledToOne(axes: Float32Array | Float64Array): Float32Array {
  let largest = 0;
  for (const value of axes) largest = Math.max(largest, Math.abs(value));
  return Float32Array.from(axes, (value) => value / (largest || 1));
}
