import { createRandom } from '@akin/domain';
import { classAxes, scatterOf } from '../learn/discriminant.ts';
import { eigen, mainEigen, type Rows, row, timesTransposed, toRows, transpose, withinOne } from '../learn/linear.ts';
import { readSafetensors, writeSafetensors } from '../safetensors.ts';
import { l2Normalize } from '../vectors/unit.ts';

/**
 * How the numbers of any model become a descriptor: at length 1, around the mean of the training pictures (with
 * classes, between it and theirs), on axes that were learned from these, at length 1 again. A model with fewer numbers
 * than a descriptor has keeps all of its axes and gets zeros after them; one with more keeps those that vary most, or
 * part classes best.
 */
export interface Axes {
  describe(numbers: Float32Array): Float32Array;
}

/**
 * Numbers that are hardly ever negative are activations, of which some are many times as strong as others: they are taken
 * as roots (Arandjelovic & Zisserman 2012), on whitened axes. Others were mostly trained to be compared as
 * they are. This is the share of all that negative ones may make up.
 */
const FEW_NEGATIVE = 0.1;
/** Axes of activations are divided by this power of their variance; 0.5 would make all of like weight. */
const EVENED = 0.25;
/** A part of the average is added to each variance before: of few pictures the last axes have hardly any. */
const EVENED_FROM = 0.1;
/** Matrices up to this size are taken apart exactly, larger ones by iteration. */
const EXACT_SIZE = 512;
/** Classes are parted on this many times the main axes that are kept. */
const LOOKED_AT = 2;
/** Shrinkage of the covariance within classes: they have few pictures. */
const SHRINKAGE = 1;
/** The part of a vector below which it lies at the mean and points nowhere. */
const LEAST_LENGTH = 1e-6;

/**
 * Learns the axes: those along which all pictures differ most compared to pictures of one class.
 *
 * @param pictures Numbers of pictures of all kinds, each of length 1.
 * @param classes And of pictures of one class each. Without any these are in the directions of the principal axes.
 * @returns The bytes of their file.
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
    members.length > 0 ? Math.min(width, LOOKED_AT * kept) : kept,
    roots ? EVENED : 0,
  );
  return writeSafetensors(
    {
      mean: { shape: [width], values: mean },
      axes: {
        shape: [kept, width],
        values: withinOne(members.length > 0 ? partingAxes(all, members, main, kept) : main),
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

/** Square roots at length 1, which keep their signs. */
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
  const added = (EVENED_FROM * variances.reduce((sum, value) => sum + value, 0)) / count;
  const weights = variances.map((value) => Math.max(value + added, 1e-12) ** -power);
  return vectors.subarray(0, count * width).map((value, i) => value * (weights[Math.floor(i / width)] as number));
}

/** What parts classes, row by row, of what differs along the main axes. */
function partingAxes(pictures: Rows, classes: readonly Rows[], main: Float64Array, count: number): Float64Array {
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

/** Throws an Error when they were made for descriptors of another size. */
export function readAxes(bytes: Uint8Array, dimensions: number, label: string): Axes {
  const tensors = readSafetensors(bytes, label);
  const [width, kept, made] = ['numbers', 'axes', 'dimensions'].map((name) => Number(tensors.metadata[name]));
  if (!width || !kept || made !== dimensions)
    throw new Error(`${label} is not of descriptors of ${dimensions} numbers.`);
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

/** At length 1. What points nowhere, such as a model that sees nothing in a blank picture, gets the first direction. */
export function unitOf(numbers: Float32Array): Float32Array {
  if (numbers.some((value) => Math.abs(value) > LEAST_LENGTH)) return l2Normalize(numbers);
  const first = new Float32Array(numbers.length);
  first[0] = 1;
  return first;
}
