import type { Pixels } from '@akin/imaging';
import { angleOf } from '../picture/angle.ts';
import { SQUARE } from '../picture/picture.ts';

const CELLS = 8;
const SECTORS = 9;
const CELL = SQUARE / CELLS;
export const GRADIENT_DIMENSIONS = CELLS * CELLS * SECTORS;
/** Reused for each picture, to avoid garbage collection: no `await` is allowed between filling it and the last use. */
const light = new Float64Array(SQUARE * SQUARE);

/**
 * The directions of edges in each part of a picture: histograms of the gradient's orientation (unsigned, 9 sectors) in
 * a grid of 8 x 8 cells. Each edge is weighted by its strength; the result is square-rooted and scaled to length 1 as a
 * whole. After Dalal & Triggs, "Histograms of oriented gradients" (2005), without their blocks. All zeros for a plain
 * picture.
 *
 * @throws {RangeError} when the picture is not `SQUARE` x `SQUARE` pixels.
 */
export function gradientsOf({ width, height, data }: Pixels): Float64Array {
  if (width !== SQUARE || height !== SQUARE) throw new RangeError(`${width} x ${height} pixels, not ${SQUARE} a side.`);
  for (let i = 0, at = 0; i < light.length; i++, at += 3) {
    light[i] = 0.299 * (data[at] as number) + 0.587 * (data[at + 1] as number) + 0.114 * (data[at + 2] as number);
  }
  const sums = new Float64Array(GRADIENT_DIMENSIONS);
  for (let y = 1; y < SQUARE - 1; y++) {
    const row = Math.floor(y / CELL) * CELLS;
    for (let x = 1; x < SQUARE - 1; x++) {
      const at = y * SQUARE + x;
      const across = (light[at + 1] as number) - (light[at - 1] as number);
      const down = (light[at + SQUARE] as number) - (light[at - SQUARE] as number);
      if (across === 0 && down === 0) continue;
      const strength = Math.sqrt(across * across + down * down);
      let turn = angleOf(down, across) * (SECTORS / Math.PI);
      if (turn < 0) turn += SECTORS;
      if (turn >= SECTORS) turn -= SECTORS;
      const sector = Math.floor(turn);
      const above = turn - sector;
      const cell = (row + Math.floor(x / CELL)) * SECTORS;
      const next = sector + 1 === SECTORS ? 0 : sector + 1;
      sums[cell + sector] = (sums[cell + sector] as number) + strength * (1 - above);
      sums[cell + next] = (sums[cell + next] as number) + strength * above;
    }
  }
  const all = Math.sqrt(sums.reduce((sum, value) => sum + value, 0));
  return all === 0 ? sums : sums.map((value) => Math.sqrt(value) / all);
}
