/**
 * Convolutions that see a picture alike however it is turned and flipped: each filter stands for eight, its copies in
 * all orientations, and their eight answers lie side by side. When the picture is turned, the answers turn with it and change
 * places; the mean of the eight over the whole map stays the same. Known as group equivariant convolutions (Cohen &
 * Welling 2016, p4m). Only one filter of eight is kept in the file. Here they are written out, so that any engine runs
 * them as plain convolutions; but filters as large as the map they see are shown the map in all orientations instead, which is
 * the same and reads an eighth of the weights.
 */

import { ORIENTATIONS } from '../orientations.ts';
import type { Tensors } from '../safetensors.ts';

/**
 * Writes out the weights of what is symmetric when they are asked for. All others are read as they are.
 *
 * @param convolutions Names of the layers whose filters each stand for eight.
 * @param heads Names of the heads on the means of each filter's eight answers.
 */
export function writeOutSymmetric(
  convolutions: readonly string[],
  heads: readonly string[],
  tensors: Tensors,
): Tensors {
  const makers = new Map<string, (shape: readonly number[]) => Float32Array>();
  for (const layer of convolutions) {
    const [bias, weight] = [`${layer}.bias`, `${layer}.weight`];
    makers.set(bias, ([outs]) => repeated(tensors.get(bias, [(outs as number) / ORIENTATIONS])));
    makers.set(weight, (shape) => {
      const [height, width, ins, outs] = shape as [number, number, number, number];
      return turned(tensors.get(weight, [height, width, ins, outs / ORIENTATIONS]), height, ins, outs / ORIENTATIONS);
    });
  }
  for (const head of heads) {
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

/** One number for the eight answers of each filter. */
function repeated(values: Float32Array): Float32Array {
  return Float32Array.from(
    { length: values.length * ORIENTATIONS },
    (_, i) => values[Math.floor(i / ORIENTATIONS)] as number,
  );
}

/** A head on the mean of each filter's eight answers, as one on all of them. */
function spread(weights: Float32Array, inputs: number, dim: number): Float32Array {
  return Float32Array.from(
    { length: inputs * dim },
    (_, i) => (weights[Math.floor(i / dim / ORIENTATIONS) * dim + (i % dim)] as number) / ORIENTATIONS,
  );
}

/**
 * The kernels of all orientations.
 *
 * @param weights side × side × ins × filters.
 * @returns side × side × ins × (filters × 8).
 */
function turned(weights: Float32Array, side: number, ins: number, filters: number): Float32Array {
  const result = new Float32Array(weights.length * ORIENTATIONS);
  for (const [i, to] of placesInAllOrientations(side, ins).entries()) {
    const [orientation, from] = [Math.floor(i / (side * side * ins)), i % (side * side * ins)];
    for (let filter = 0; filter < filters; filter++) {
      result[(to * filters + filter) * ORIENTATIONS + orientation] = weights[from * filters + filter] as number;
    }
  }
  return result;
}

/**
 * Which number of a map (row by row, its channels side by side) a filter sees at each of its own places, one orientation
 * after the other. Answers to a layer before come in groups of eight, which change places with the orientation; the channels of a
 * picture do not.
 *
 * @returns 8 × (side × side × channels).
 */
export function placesInAllOrientations(side: number, channels: number): Int32Array {
  const grouped = channels % ORIENTATIONS === 0;
  const places = new Int32Array(ORIENTATIONS * side * side * channels);
  for (let orientation = 0; orientation < ORIENTATIONS; orientation++) {
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const [seenY, seenX] = origin(orientation, side, y, x);
        for (let channel = 0; channel < channels; channel++) {
          const place = channel % ORIENTATIONS;
          const seen = grouped ? channel - place + placeOf(orientation, place) : channel;
          places[((orientation * side + seenY) * side + seenX) * channels + seen] = (y * side + x) * channels + channel;
        }
      }
    }
  }
  return places;
}

/**
 * Where the pixel at (y, x) of a square in an orientation comes from: 0 to 3 are quarter turns to the left, those from
 * 4 on the same of the square seen in a mirror, as the weights were trained.
 */
function origin(orientation: number, side: number, y: number, x: number): [number, number] {
  for (let turn = orientation % 4; turn > 0; turn--) [y, x] = [x, side - 1 - y];
  return orientation < 4 ? [y, x] : [y, side - 1 - x];
}

/** Which weights of a filter in an orientation are for the answers at a place: those of the place in the inverse orientation. */
function placeOf(orientation: number, place: number): number {
  return PLACES[orientation * ORIENTATIONS + place] as number;
}

const PLACES = Array.from({ length: ORIENTATIONS * ORIENTATIONS }, (_, i) =>
  composed(inverse(Math.floor(i / ORIENTATIONS)), i % ORIENTATIONS),
);

/** The orientation that is `first` and then `second`. */
function composed(second: number, first: number): number {
  return wayOf((y, x) => origin(first, 3, ...origin(second, 3, y, x)));
}

function inverse(orientation: number): number {
  return Array.from({ length: ORIENTATIONS }, (_, other) => other).find(
    (other) => composed(other, orientation) === 0,
  ) as number;
}

/** The orientation that moves the corner and the edge of a 3 × 3 square like this. */
function wayOf(move: (y: number, x: number) => readonly [number, number]): number {
  const same = (orientation: number, y: number, x: number) =>
    String(origin(orientation, 3, y, x)) === String(move(y, x));
  return Array.from({ length: ORIENTATIONS }, (_, orientation) => orientation).find(
    (orientation) => same(orientation, 0, 0) && same(orientation, 0, 1),
  ) as number;
}
