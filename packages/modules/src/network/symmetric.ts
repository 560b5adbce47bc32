/**
 * Convolutions that are invariant to rotations by quarters and flips: each filter represents eight, its copies in all
 * orientations, and their eight results are adjacent. When the picture is rotated, the results rotate and are permuted;
 * the mean of the eight over the whole map stays the same. These are group equivariant convolutions (Cohen & Welling
 * 2016, p4m). The file contains only one filter of eight. This module expands them, so that any engine can run them as
 * normal convolutions. Filters as large as their map are not expanded: instead, the map is given to them in all
 * orientations, which is equivalent and reads an eighth of the weights.
 */

import { ORIENTATIONS } from '../picture/orientations.ts';
import type { Tensors } from '../weights/safetensors.ts';

/**
 * Expands symmetric weights when they are requested. Other weights are returned unchanged.
 *
 * @param convolutions Names of the layers whose filters each represent eight.
 * @param head Name of the head, if it is on the means of each filter's eight results.
 */
export function expandSymmetric(convolutions: readonly string[], head: string | undefined, tensors: Tensors): Tensors {
  const makers = new Map<string, (shape: readonly number[]) => Float32Array>();
  for (const layer of convolutions) {
    const [bias, weight] = [`${layer}.bias`, `${layer}.weight`];
    makers.set(bias, ([outs]) => repeated(tensors.get(bias, [(outs as number) / ORIENTATIONS])));
    makers.set(weight, (shape) => {
      const [height, width, ins, outs] = shape as [number, number, number, number];
      return rotatedKernels(
        tensors.get(weight, [height, width, ins, outs / ORIENTATIONS]),
        height,
        ins,
        outs / ORIENTATIONS,
      );
    });
  }
  if (head !== undefined) {
    const weight = `${head}.weight`;
    makers.set(weight, (shape) => {
      const [inputs, dim] = shape as [number, number];
      return spread(tensors.get(weight, [inputs / ORIENTATIONS, dim]), inputs, dim);
    });
  }
  return {
    metadata: tensors.metadata,
    get: (name, shape) => makers.get(name)?.(shape) ?? tensors.get(name, shape),
  };
}

function repeated(values: Float32Array): Float32Array {
  return Float32Array.from(
    { length: values.length * ORIENTATIONS },
    (_, i) => values[Math.floor(i / ORIENTATIONS)] as number,
  );
}

/** Converts a head on the mean of each filter's eight results to a head on all of them. */
function spread(weights: Float32Array, inputs: number, dim: number): Float32Array {
  return Float32Array.from(
    { length: inputs * dim },
    (_, i) => (weights[Math.floor(i / dim / ORIENTATIONS) * dim + (i % dim)] as number) / ORIENTATIONS,
  );
}

/**
 * The kernels in all orientations.
 *
 * @param weights side × side × ins × filters.
 * @returns side × side × ins × (filters × 8).
 */
function rotatedKernels(weights: Float32Array, side: number, ins: number, filters: number): Float32Array {
  const result = new Float32Array(weights.length * ORIENTATIONS);
  for (const [i, to] of indexesInAllOrientations(side, ins).entries()) {
    const [orientation, from] = [Math.floor(i / (side * side * ins)), i % (side * side * ins)];
    for (let filter = 0; filter < filters; filter++) {
      result[(to * filters + filter) * ORIENTATIONS + orientation] = weights[from * filters + filter] as number;
    }
  }
  return result;
}

/**
 * For each orientation, and each position of a filter: the index of the number in the map (row by row, channels
 * adjacent) at that position. Results of an earlier layer come in groups of eight, which are permuted by the
 * orientation; the channels of a picture are not.
 *
 * @returns 8 × (side × side × channels).
 */
export function indexesInAllOrientations(side: number, channels: number): Int32Array {
  const grouped = channels % ORIENTATIONS === 0;
  const indexes = new Int32Array(ORIENTATIONS * side * side * channels);
  for (let orientation = 0; orientation < ORIENTATIONS; orientation++) {
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const [seenY, seenX] = sourcePosition(orientation, side, y, x);
        for (let channel = 0; channel < channels; channel++) {
          const element = channel % ORIENTATIONS;
          const seen = grouped ? channel - element + permuted(orientation, element) : channel;
          indexes[((orientation * side + seenY) * side + seenX) * channels + seen] =
            (y * side + x) * channels + channel;
        }
      }
    }
  }
  return indexes;
}

/**
 * The source position of the pixel (y, x) of a square in an orientation: 0 to 3 are quarter turns to the left, 4 to 7
 * the same after mirroring, as the weights were trained.
 */
function sourcePosition(orientation: number, side: number, y: number, x: number): [number, number] {
  for (let turn = orientation % 4; turn > 0; turn--) [y, x] = [x, side - 1 - y];
  return orientation < 4 ? [y, x] : [y, side - 1 - x];
}

/**
 * For a filter in an orientation: which of the eight weights of a group applies to one of its eight results. It is that
 * of the inverse orientation.
 */
function permuted(orientation: number, element: number): number {
  return PERMUTATIONS[orientation * ORIENTATIONS + element] as number;
}

const PERMUTATIONS = Array.from({ length: ORIENTATIONS * ORIENTATIONS }, (_, i) =>
  composed(inverse(Math.floor(i / ORIENTATIONS)), i % ORIENTATIONS),
);

function composed(second: number, first: number): number {
  return orientationOf((y, x) => sourcePosition(first, 3, ...sourcePosition(second, 3, y, x)));
}

function inverse(orientation: number): number {
  return Array.from({ length: ORIENTATIONS }, (_, other) => other).find(
    (other) => composed(other, orientation) === 0,
  ) as number;
}

/** The orientation that moves the corner and the edge of a 3 × 3 square in this way. */
function orientationOf(move: (y: number, x: number) => readonly [number, number]): number {
  const same = (orientation: number, y: number, x: number) =>
    String(sourcePosition(orientation, 3, y, x)) === String(move(y, x));
  return Array.from({ length: ORIENTATIONS }, (_, orientation) => orientation).find(
    (orientation) => same(orientation, 0, 0) && same(orientation, 0, 1),
  ) as number;
}
