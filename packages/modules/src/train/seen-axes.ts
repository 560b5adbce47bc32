import { HEAD_NUMBERS, POOL_NUMBERS, SEEN_AXES } from '../content/axes.ts';
import { project } from '../project.ts';
import { centerOf, classAxes, scatterOf } from './discriminant.ts';
import { covariance, mainEigen, mean, type Rows, timesTransposed, toRows, transpose } from './linear.ts';

/**
 * Before classes are looked at, the channels of the trunk are put on so many principal axes, divided by this power of
 * their variance, and count so much against the head: between 0 and 0.5 fine differences count, and noise does not drown
 * the rest.
 */
const POOL_AXES = 256;
const POOL_EVENED = 0.35;
const POOL_WEIGHT = 0.7;
const EVENED_NUMBERS = HEAD_NUMBERS + POOL_AXES;
/** How much of an even spread is added to that of the pictures of one class. */
const EVEN_SHARE = 4;

/**
 * The axes on which content compares what the network sees (`seenOf`): those along which all pictures differ most compared
 * to pictures of one class.
 *
 * @param pictures What the network sees in pictures of all kinds, 1,280 numbers each.
 * @param classes And in pictures of one class each. Without any these are in the directions of the principal axes.
 * @returns A mean of 1,280 numbers, and 192 axes of as many, row by row.
 */
export function seenAxes(
  pictures: readonly Float64Array[],
  classes: readonly (readonly Float64Array[])[],
  random: () => number,
): { mean: Float64Array; axes: Float64Array } {
  const pools = pictures.map((seen) => seen.subarray(HEAD_NUMBERS));
  const pool = evenAxes(toRows(pools, POOL_NUMBERS), POOL_AXES, POOL_EVENED, random);
  const along = (seen: Float64Array) => project(pool.axes, seen.subarray(HEAD_NUMBERS), pool.mean);
  const squares = pictures.reduce((sum, seen) => along(seen).reduce((all, value) => all + value * value, sum), 0);
  const weight = POOL_WEIGHT / Math.sqrt(squares / pictures.length);
  const evened = (members: readonly Float64Array[]): Rows =>
    toRows(
      members.map((seen) => [...seen.subarray(0, HEAD_NUMBERS), ...along(seen).map((value) => weight * value)]),
      EVENED_NUMBERS,
    );
  const evenedClasses = classes.map(evened);
  const { covariances } = scatterOf(evened(pictures), evenedClasses);
  const axes = classAxes(covariances, evenedClasses, SEEN_AXES, EVEN_SHARE);

  // Both steps in one: axes on what the network sees itself.
  const byColumn = transpose(axes, EVENED_NUMBERS);
  const onPool = transpose(byColumn.slice(HEAD_NUMBERS * SEEN_AXES), SEEN_AXES);
  const channels = timesTransposed(transpose(Float64Array.from(pool.axes), POOL_NUMBERS), onPool, POOL_AXES);
  const both = new Float64Array((HEAD_NUMBERS + POOL_NUMBERS) * SEEN_AXES);
  both.set(byColumn.subarray(0, HEAD_NUMBERS * SEEN_AXES));
  both.set(
    channels.map((value) => weight * value),
    HEAD_NUMBERS * SEEN_AXES,
  );
  const raw = (members: readonly Float64Array[]) => toRows(members, HEAD_NUMBERS + POOL_NUMBERS);
  return { mean: centerOf(raw(pictures), classes.map(raw)), axes: transpose(both, SEEN_AXES) };
}

/** Principal axes, each divided by a power of its variance: 0 leaves them as they are, 0.5 makes all of like weight. */
export function evenAxes(
  rows: Rows,
  count: number,
  power: number,
  random: () => number,
): { readonly mean: Float32Array; readonly axes: Float32Array } {
  const center = mean(rows);
  const { values, vectors } = mainEigen(covariance(rows, center), rows.width, count, random);
  const axes = vectors.map(
    (value, i) => value / Math.max(values[Math.floor(i / rows.width)] as number, 1e-12) ** power,
  );
  return { mean: Float32Array.from(center), axes: Float32Array.from(axes) };
}
