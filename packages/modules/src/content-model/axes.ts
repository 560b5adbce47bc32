import { createRandom } from '@akin/domain';
import { readSafetensors, writeSafetensors } from '../safetensors.ts';
import { covariance, eigen, mainEigen, mean, type Rows } from '../train/linear.ts';
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
      : mainEigen(spread, rows.width, kept, createRandom(1)).vectors;
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
