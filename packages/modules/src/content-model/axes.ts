import { readSafetensors, writeSafetensors } from '../safetensors.ts';
import { covariance, eigen, mean, type Rows } from '../train/linear.ts';
import { createRandom } from '../train/random.ts';
import { l2Normalize } from '../vectors/unit.ts';

/**
 * How the numbers of any model become a descriptor: at length 1, around the mean of the training pictures, on the
 * principal axes of these, at length 1 again. A model with fewer numbers than a descriptor has keeps all of its axes
 * and gets zeros behind them; one with more keeps those that vary most.
 */
export interface Axes {
  describe(numbers: Float32Array): Float32Array;
}

/** Matrices up to this size are taken apart exactly, larger ones by iteration. */
const EXACT_SIZE = 512;
const ITERATIONS = 30;
/** The part of a vector below which it lies at the mean and points nowhere. */
const LEAST_LENGTH = 1e-6;

/** @param rows numbers of the training pictures, each of length 1. */
export function trainAxes(rows: Rows, dimensions: number): Uint8Array {
  const center = mean(rows);
  const kept = Math.min(rows.width, dimensions);
  const spread = covariance(rows, center);
  const axes =
    rows.width <= EXACT_SIZE
      ? eigen(spread, rows.width).vectors.subarray(0, kept * rows.width)
      : mainAxes(spread, rows.width, kept);
  return writeSafetensors(
    {
      mean: { shape: [rows.width], values: center },
      axes: { shape: [kept, rows.width], values: axes },
    },
    { numbers: String(rows.width), axes: String(kept), dimensions: String(dimensions) },
  );
}

/** Throws an Error when they were made for descriptors of another size. */
export function readAxes(bytes: Uint8Array, dimensions: number, label: string): Axes {
  const tensors = readSafetensors(bytes, label);
  const [width, kept, made] = ['numbers', 'axes', 'dimensions'].map((name) => Number(tensors.metadata[name]));
  if (!width || !kept || made !== dimensions)
    throw new Error(`${label} is not of descriptors of ${dimensions} numbers.`);
  const center = tensors.get('mean', [width]);
  const axes = tensors.get('axes', [kept, width]);
  return {
    describe(numbers) {
      if (numbers.length !== width) {
        throw new Error(`The model gives ${numbers.length} numbers, and ${label} was trained on ${width}.`);
      }
      const unit = unitOf(numbers);
      const along = new Float32Array(dimensions);
      for (let axis = 0, at = 0; axis < kept; axis++) {
        let sum = 0;
        for (let i = 0; i < width; i++, at++)
          sum += (axes[at] as number) * ((unit[i] as number) - (center[i] as number));
        along[axis] = sum;
      }
      return unitOf(along);
    },
  };
}

/** At length 1. What points nowhere, such as a model that sees nothing in a blank picture, gets the first direction. */
export function unitOf(numbers: Float32Array): Float32Array {
  if (numbers.some((value) => Math.abs(value) > LEAST_LENGTH)) return l2Normalize(numbers);
  const first = new Float32Array(numbers.length);
  first[0] = 1;
  return first;
}

/** The main axes by orthogonal iteration (Golub & Van Loan, 8.2), turned to the eigenvectors within them. */
function mainAxes(symmetric: Float64Array, size: number, count: number): Float64Array {
  const random = createRandom(1);
  let basis = orthonormal(
    Float64Array.from({ length: count * size }, () => random() - 0.5),
    size,
  );
  for (let i = 0; i < ITERATIONS; i++) basis = orthonormal(product(basis, symmetric, size), size);
  const within = timesRows(product(basis, symmetric, size), basis, size);
  return product(eigen(within, count).vectors, basis, count);
}

/** Rows times a matrix of `inner` rows. */
function product(rows: Float64Array, matrix: Float64Array, inner: number): Float64Array {
  const width = matrix.length / inner;
  const count = rows.length / inner;
  const result = new Float64Array(count * width);
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < inner; i++) {
      const factor = rows[row * inner + i] as number;
      for (let j = 0, to = row * width, from = i * width; j < width; j++, to++, from++) {
        result[to] = (result[to] as number) + factor * (matrix[from] as number);
      }
    }
  }
  return result;
}

/** The products of each row of the first with each of the second. */
function timesRows(a: Float64Array, b: Float64Array, width: number): Float64Array {
  const count = b.length / width;
  const result = new Float64Array((a.length / width) * count);
  for (let i = 0; i * width < a.length; i++) {
    for (let j = 0; j < count; j++) {
      let sum = 0;
      for (let k = 0; k < width; k++) sum += (a[i * width + k] as number) * (b[j * width + k] as number);
      result[i * count + j] = sum;
    }
  }
  return result;
}

/** The rows made orthogonal and of length 1, each by those before (modified Gram-Schmidt, twice for exactness). */
function orthonormal(rows: Float64Array, width: number): Float64Array {
  const result = rows.slice();
  for (let i = 0; i * width < result.length; i++) {
    const row = result.subarray(i * width, (i + 1) * width);
    for (let pass = 0; pass < 2; pass++) {
      for (let j = 0; j < i; j++) {
        const other = result.subarray(j * width, (j + 1) * width);
        let along = 0;
        for (let k = 0; k < width; k++) along += (row[k] as number) * (other[k] as number);
        for (let k = 0; k < width; k++) row[k] = (row[k] as number) - along * (other[k] as number);
      }
    }
    const norm = Math.hypot(...row);
    for (let k = 0; k < width; k++) row[k] = (row[k] as number) / Math.max(norm, 1e-30);
  }
  return result;
}
