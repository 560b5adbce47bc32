/**
 * Convolutions that see a picture alike however it is turned and flipped: each filter stands for eight, its copies in
 * all ways, and their eight answers lie side by side. When the picture is turned, the answers turn with it and change
 * places; the mean of the eight over the whole map stays the same. Known as group equivariant convolutions (Cohen &
 * Welling 2016, p4m). Only one filter of eight is kept in the file. Here they are written out, so that any engine runs
 * them as plain convolutions; but filters as large as the map they see are shown the map in all ways instead, which is
 * the same and reads an eighth of the weights.
 */
import type { Tensors } from '../safetensors.ts';
import { WAYS } from '../ways.ts';

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
    makers.set(bias, ([outs]) => repeated(tensors.get(bias, [(outs as number) / WAYS])));
    makers.set(weight, (shape) => {
      const [height, width, ins, outs] = shape as [number, number, number, number];
      return turned(tensors.get(weight, [height, width, ins, outs / WAYS]), height, ins, outs / WAYS);
    });
  }
  for (const head of heads) {
    const weight = `${head}.weight`;
    makers.set(weight, (shape) => {
      const [inputs, dim] = shape as [number, number];
      return spread(tensors.get(weight, [inputs / WAYS, dim]), inputs, dim);
    });
  }
  return {
    metadata: tensors.metadata,
    get: (name, shape) => makers.get(name)?.(shape) ?? tensors.get(name, shape),
  };
}

/** One number for the eight answers of each filter. */
function repeated(values: Float32Array): Float32Array {
  return Float32Array.from({ length: values.length * WAYS }, (_, i) => values[Math.floor(i / WAYS)] as number);
}

/** A head on the mean of each filter's eight answers, as one on all of them. */
function spread(weights: Float32Array, inputs: number, dim: number): Float32Array {
  return Float32Array.from(
    { length: inputs * dim },
    (_, i) => (weights[Math.floor(i / dim / WAYS) * dim + (i % dim)] as number) / WAYS,
  );
}

/**
 * The kernels of all ways.
 *
 * @param weights side × side × ins × filters.
 * @returns side × side × ins × (filters × 8).
 */
function turned(weights: Float32Array, side: number, ins: number, filters: number): Float32Array {
  const result = new Float32Array(weights.length * WAYS);
  for (const [i, to] of placesInAllWays(side, ins).entries()) {
    const [way, from] = [Math.floor(i / (side * side * ins)), i % (side * side * ins)];
    for (let filter = 0; filter < filters; filter++) {
      result[(to * filters + filter) * WAYS + way] = weights[from * filters + filter] as number;
    }
  }
  return result;
}

/**
 * Which number of a map (row by row, its channels side by side) a filter sees at each of its own places, in one way after
 * the other. Answers to a layer before come in groups of eight, which change places with the way; the channels of a
 * picture do not.
 *
 * @returns 8 × (side × side × channels).
 */
export function placesInAllWays(side: number, channels: number): Int32Array {
  const grouped = channels % WAYS === 0;
  const places = new Int32Array(WAYS * side * side * channels);
  for (let way = 0; way < WAYS; way++) {
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const [seenY, seenX] = origin(way, side, y, x);
        for (let channel = 0; channel < channels; channel++) {
          const place = channel % WAYS;
          const seen = grouped ? channel - place + placeOf(way, place) : channel;
          places[((way * side + seenY) * side + seenX) * channels + seen] = (y * side + x) * channels + channel;
        }
      }
    }
  }
  return places;
}

/**
 * Where the pixel at (y, x) of a square turned in a way comes from: ways 0 to 3 are quarter turns to the left, those from
 * 4 on the same of the square seen in a mirror, as the weights were trained.
 */
function origin(way: number, side: number, y: number, x: number): [number, number] {
  for (let turn = way % 4; turn > 0; turn--) [y, x] = [x, side - 1 - y];
  return way < 4 ? [y, x] : [y, side - 1 - x];
}

/** Which weights of a filter turned in a way are for the answers at a place: those for the place with the way undone. */
function placeOf(way: number, place: number): number {
  return PLACES[way * WAYS + place] as number;
}

const PLACES = Array.from({ length: WAYS * WAYS }, (_, i) => composed(inverse(Math.floor(i / WAYS)), i % WAYS));

/** The way that is `first` and then `second`. */
function composed(second: number, first: number): number {
  return wayOf((y, x) => origin(first, 3, ...origin(second, 3, y, x)));
}

function inverse(way: number): number {
  return Array.from({ length: WAYS }, (_, other) => other).find((other) => composed(other, way) === 0) as number;
}

/** The way that moves the corner and the edge of a 3 × 3 square like this. */
function wayOf(move: (y: number, x: number) => readonly [number, number]): number {
  const same = (way: number, y: number, x: number) => String(origin(way, 3, y, x)) === String(move(y, x));
  return Array.from({ length: WAYS }, (_, way) => way).find((way) => same(way, 0, 0) && same(way, 0, 1)) as number;
}
