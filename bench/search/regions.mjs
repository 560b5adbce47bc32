import { createDice } from '../lib/random.mjs';
import { rowAt, squaredDistance } from './rows.mjs';

/** Bits of the number of a region: there are 128 regions of similar size. */
export const REGION_BITS = 7;

/**
 * Splits pictures into regions of similar pictures and equal size: each region is cut in two at the middle between two
 * distant pictures, repeatedly. Regions that share their first bits are neighbours.
 *
 * @param {import('./rows.mjs').Rows} rows
 * @returns {{ of: Uint8Array, centers: import('./rows.mjs').Rows }} the region of each row; the mean of each region
 */
export function splitIntoRegions(rows) {
  const dice = createDice(11);
  let groups = [Array.from({ length: rows.count }, (_, i) => i)];
  for (let bit = 0; bit < REGION_BITS; bit++) groups = groups.flatMap((group) => halves(rows, group, dice));
  const of = new Uint8Array(rows.count);
  for (const [region, group] of groups.entries()) for (const i of group) of[i] = region;
  const centers = new Float32Array(groups.length * rows.width);
  for (const [region, group] of groups.entries()) {
    for (const i of group) {
      for (const [at, value] of rowAt(rows, i).entries()) centers[region * rows.width + at] += value / group.length;
    }
  }
  return { of, centers: { width: rows.width, count: groups.length, values: centers } };
}

function halves(rows, group, dice) {
  if (group.length < 2) return [group, []];
  const farthest = (from) =>
    group.reduce((a, b) => (squaredDistance(rows, a, rows, from) >= squaredDistance(rows, b, rows, from) ? a : b));
  const one = farthest(group[dice.whole(group.length)]);
  const other = farthest(one);
  const side = (i) => squaredDistance(rows, i, rows, one) - squaredDistance(rows, i, rows, other);
  const sides = new Map(group.map((i) => [i, side(i)]));
  const sorted = group.toSorted((a, b) => sides.get(a) - sides.get(b) || a - b);
  const middle = group.length >> 1;
  return [sorted.slice(0, middle), sorted.slice(middle)];
}
