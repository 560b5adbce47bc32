import { createRandom } from '@akin/domain';
import { readSafetensors, writeSafetensors } from '../safetensors.ts';
import { classAxes, scatterOf } from '../train/discriminant.ts';
import { eigen, mainEigen, type Rows, timesTransposed, transpose, withinOne } from '../train/linear.ts';
import { l2Normalize } from '../vectors/unit.ts';

/**
 * How the numbers of any model become a descriptor: at length 1, around the mean of the training pictures (with
 * classes, between it and theirs), on axes that were learned from these, at length 1 again. A model with fewer numbers
 * than a descriptor has keeps all of its axes and gets zeros behind them; one with more keeps those that vary most, or
 * part classes best.
 */
export interface Axes {
  describe(numbers: Float32Array): Float32Array;
}

/** Matrices up to this size are taken apart exactly, larger ones by iteration. */
const EXACT_SIZE = 512;
/** Of more numbers, classes are parted on this many times the main axes that are kept. */
const LOOKED_AT = 2;
/**
 * How much of an even spread is added to that of the pictures of one class, which are few. Less than in akin's own content,
 * whose numbers are made of more even weight before.
 */
const EVEN_SHARE = 1;
/** The part of a vector below which it lies at the mean and points nowhere. */
const LEAST_LENGTH = 1e-6;

/**
 * Learns the axes: those along which all pictures differ most compared to pictures of one class.
 *
 * @param pictures Numbers of pictures of all kinds, each of length 1.
 * @param classes And of pictures of one class each. Without any these are the principal axes.
 * @returns The bytes of their file.
 */
export function trainAxes(pictures: Rows, dimensions: number, classes: readonly Rows[] = []): Uint8Array {
  const { width } = pictures;
  const kept = Math.min(width, dimensions);
  const { mean, covariances } = scatterOf(pictures, classes);
  const axes =
    classes.length > 0 ? partingAxes(pictures, classes, covariances, kept) : mainAxes(covariances, width, kept);
  return writeSafetensors(
    {
      mean: { shape: [width], values: mean },
      axes: { shape: [kept, width], values: axes },
    },
    { numbers: String(width), axes: String(kept), dimensions: String(dimensions) },
  );
}

/** The principal axes, row by row. */
function mainAxes(scatter: Float64Array, width: number, count: number): Float64Array {
  return width <= EXACT_SIZE
    ? eigen(scatter, width).vectors.subarray(0, count * width)
    : mainEigen(scatter, width, count, createRandom(1)).vectors;
}

/** What parts classes, row by row: of many numbers, of what differs most in them. */
function partingAxes(pictures: Rows, classes: readonly Rows[], scatter: Float64Array, count: number): Float32Array {
  const { width } = pictures;
  if (width <= EXACT_SIZE) return withinOne(classAxes(scatter, classes, count, EVEN_SHARE));
  const looked = Math.min(width, LOOKED_AT * count);
  const main = mainAxes(scatter, width, looked);
  const along = (rows: Rows): Rows => ({
    count: rows.count,
    width: looked,
    values: Float32Array.from(timesTransposed(rows.values, main, width)),
  });
  const classesAlong = classes.map(along);
  const { covariances } = scatterOf(along(pictures), classesAlong);
  const axes = classAxes(covariances, classesAlong, count, EVEN_SHARE);
  return withinOne(timesTransposed(axes, transpose(main, width), looked));
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
