import { writePoint } from './oklab.ts';

/** The colours of a picture with weights: a histogram with 16x16x16 cells in sRGB; each cell has its mean colour. */
export interface Colors {
  readonly count: number;
  /** Points of oklab.ts, three numbers a colour. */
  readonly points: Float64Array;
  /** Each greater than 0. */
  readonly weights: Float64Array;
}

const CELLS = 4096;
/** Reused for each picture, to avoid garbage collection: no `await` is allowed between filling it and the last use. */
const sums = new Float64Array(CELLS * 4);

/**
 * Collects the pixels with a weight above 0 (`weights` has one byte a pixel). `points` are the points of the pixels.
 */
export function collectColors(data: Uint8Array, points: Float32Array, weights: Uint8Array): Colors {
  sums.fill(0);
  for (let i = 0, at = 0; i < weights.length; i++, at += 3) {
    const weight = weights[i] as number;
    if (weight === 0) continue;
    const cell =
      4 *
      ((((data[at] as number) >> 4) << 8) | (((data[at + 1] as number) >> 4) << 4) | ((data[at + 2] as number) >> 4));
    sums[cell] = (sums[cell] as number) + weight * (points[at] as number);
    sums[cell + 1] = (sums[cell + 1] as number) + weight * (points[at + 1] as number);
    sums[cell + 2] = (sums[cell + 2] as number) + weight * (points[at + 2] as number);
    sums[cell + 3] = (sums[cell + 3] as number) + weight;
  }
  let count = 0;
  for (let cell = 3; cell < sums.length; cell += 4) if (sums[cell] as number) count++;
  const colors = { count, points: new Float64Array(3 * count), weights: new Float64Array(count) };
  let next = 0;
  for (let cell = 0; cell < sums.length; cell += 4) {
    const weight = sums[cell + 3] as number;
    if (weight === 0) continue;
    colors.points[3 * next] = (sums[cell] as number) / weight;
    colors.points[3 * next + 1] = (sums[cell + 1] as number) / weight;
    colors.points[3 * next + 2] = (sums[cell + 2] as number) / weight;
    colors.weights[next++] = weight;
  }
  return colors;
}

export function writePoints(data: Uint8Array, points: Float32Array): void {
  for (let at = 0; at < data.length; at += 3) {
    writePoint(points, at, data[at] as number, data[at + 1] as number, data[at + 2] as number);
  }
}
