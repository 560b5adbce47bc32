import { createRandom } from '@akin/domain';
import { classAxes, scatterOf } from '../learn/discriminant.ts';
import { eigen, mainEigen, type Rows, row, scaledToOne, timesTransposed, toRows, transpose } from '../learn/linear.ts';
import { readSafetensors, writeSafetensors } from '../safetensors.ts';
import { l2Normalize } from '../vectors/unit.ts';

/**
 * The projection from the output of any model to a descriptor: scale to length 1, subtract the mean of the training
 * pictures (with classes: the mean of that and theirs), project onto learned axes, scale to length 1 again. A model
 * with fewer numbers than a descriptor keeps all its axes, followed by zeros; one with more keeps the axes with the
 * largest variance, or those that separate classes best.
 */
export interface Axes {
  describe(numbers: Float32Array): Float32Array;
}

/**
 * If numbers are hardly ever negative, they are activations, and some are many times as strong as others: square roots
 * (Arandjelovic & Zisserman 2012) and whitened axes reduce that. Other outputs were usually trained to be compared
 * directly. This is the maximum share of the total that negative numbers may have.
 */
const FEW_NEGATIVE = 0.1;
/** Axes of activations are divided by their variance to this power; 0.5 would be full whitening. */
const WHITENING = 0.25;
/**
 * This part of the mean variance is added to each variance first: with few pictures, the last axes have almost none.
 */
const VARIANCE_FLOOR = 0.1;
/** Matrices up to this size are decomposed exactly, larger ones by iteration. */
const EXACT_SIZE = 512;
/** Classes are separated within this many times as many principal axes as are kept. */
const CANDIDATE_AXES = 2;
/** Shrinkage of the within-class covariance, because classes have few pictures. */
const SHRINKAGE = 1;
/** A shorter vector lies at the mean, and its direction is only noise. */
const MIN_LENGTH = 1e-6;

/**
 * Learns the axes: principal axes, or with classes those along which all pictures differ most compared to pictures of
 * the same class.
 *
 * @param pictures Model outputs of pictures of all kinds, each of length 1.
 * @param classes Model outputs for each class. Without classes the axes are the principal axes.
 * @returns The bytes of the axes file.
 */
export function trainAxes(pictures: Rows, dimensions: number, classes: readonly Rows[] = []): Uint8Array {
  const { width } = pictures;
  const kept = Math.min(width, dimensions);
  const roots = areActivations(pictures);
  const taken = (rows: Rows) => (roots ? eachRow(rows, rootsOf) : rows);
  const [all, members] = [taken(pictures), classes.map(taken)];
  const { mean, covariances } = scatterOf(all, members);
  const main = mainAxes(
    covariances,
    width,
    members.length > 0 ? Math.min(width, CANDIDATE_AXES * kept) : kept,
    roots ? WHITENING : 0,
  );
  return writeSafetensors(
    {
      mean: { shape: [width], values: mean },
      axes: {
        shape: [kept, width],
        values: scaledToOne(members.length > 0 ? separatingAxes(all, members, main, kept) : main),
      },
    },
    { numbers: String(width), axes: String(kept), dimensions: String(dimensions), roots: String(roots) },
  );
}

function areActivations({ values }: Rows): boolean {
  let negative = 0;
  let all = 0;
  for (const value of values) {
    all += Math.abs(value);
    if (value < 0) negative -= value;
  }
  return negative <= FEW_NEGATIVE * all;
}

/** Square roots that keep their signs, scaled to length 1. */
function rootsOf(numbers: Float32Array): Float32Array {
  return unitOf(numbers.map((value) => Math.sign(value) * Math.sqrt(Math.abs(value))));
}

function eachRow(rows: Rows, change: (one: Float32Array) => Float32Array): Rows {
  return toRows(
    Array.from({ length: rows.count }, (_, i) => change(row(rows, i))),
    rows.width,
  );
}

/** The principal axes, row by row, divided by a power of their variances. */
function mainAxes(scatter: Float64Array, width: number, count: number, power: number): Float64Array {
  const { values, vectors } =
    width <= EXACT_SIZE ? eigen(scatter, width) : mainEigen(scatter, width, count, createRandom(1));
  const variances = values.subarray(0, count).map((value) => Math.max(0, value));
  const added = (VARIANCE_FLOOR * variances.reduce((sum, value) => sum + value, 0)) / count;
  const weights = variances.map((value) => Math.max(value + added, 1e-12) ** -power);
  return vectors.subarray(0, count * width).map((value, i) => value * (weights[Math.floor(i / width)] as number));
}

/** The axes that separate classes, row by row, within the principal axes. */
function separatingAxes(pictures: Rows, classes: readonly Rows[], main: Float64Array, count: number): Float64Array {
  const { width } = pictures;
  const looked = main.length / width;
  const along = (rows: Rows): Rows => ({
    count: rows.count,
    width: looked,
    values: Float32Array.from(timesTransposed(rows.values, main, width)),
  });
  const classesAlong = classes.map(along);
  const { covariances } = scatterOf(along(pictures), classesAlong);
  const axes = classAxes(covariances, classesAlong, count, SHRINKAGE);
  return timesTransposed(axes, transpose(main, width), looked);
}

/** @throws Error when the axes were made for descriptors of another size */
export function readAxes(bytes: Uint8Array, dimensions: number, label: string): Axes {
  const tensors = readSafetensors(bytes, label);
  const [width, kept, made] = ['numbers', 'axes', 'dimensions'].map((name) => Number(tensors.metadata[name]));
  if (!width || !kept || made !== dimensions)
    throw new Error(`${label} does not belong to descriptors of ${dimensions} numbers.`);
  const center = tensors.get('mean', [width]);
  const axes = tensors.get('axes', [kept, width]);
  const roots = tensors.metadata.roots === 'true';
  return {
    describe(numbers) {
      if (numbers.length !== width) {
        throw new Error(`The model gives ${numbers.length} numbers, and ${label} was trained on ${width}.`);
      }
      const unit = roots ? rootsOf(numbers) : unitOf(numbers);
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

/** Scales to length 1. A zero vector, for example of a blank picture, becomes the first unit vector. */
export function unitOf(numbers: Float32Array): Float32Array {
  if (numbers.some((value) => Math.abs(value) > MIN_LENGTH)) return l2Normalize(numbers);
  const first = new Float32Array(numbers.length);
  first[0] = 1;
  return first;
}
