import { HEAD_NUMBERS, POOL_NUMBERS, SEEN_AXES } from '@akin/modules/internal/content/axes';
import { centerOf, classAxes, scatterOf } from '@akin/modules/internal/learn/discriminant';
import {
  covariance,
  mainEigen,
  mean,
  type Rows,
  timesTransposed,
  toRows,
  transpose,
} from '@akin/modules/internal/learn/linear';
import { project } from '@akin/modules/internal/project';
import { distance } from '@akin/modules/internal/vectors/unit';

/** Of training: there must be more pictures than axes that channels are put on. */
export const LEAST_PICTURES = 500;

/** How many numbers and axes there are. */
interface SeenSizes {
  /** Numbers of the network: of its head and, after these, the channels of its trunk. */
  readonly head: number;
  readonly pool: number;
  /** Before classes are looked at, the channels are put on so many principal axes. */
  readonly poolAxes: number;
  /** That are looked for. */
  readonly axes: number;
}

const SHIPPED: SeenSizes = { head: HEAD_NUMBERS, pool: POOL_NUMBERS, poolAxes: 256, axes: SEEN_AXES };
/**
 * Partial whitening: the axes of channels are divided by this power of their variance (0: none, 0.5: whole), and weigh
 * this much against the head. Fine differences count, and noise does not drown the rest.
 */
const POOL_WHITENING = 0.35;
const POOL_WEIGHT = 0.7;
/** Channels that are nearer than this differ by rounding alone. */
const LEAST_DIFFERENCE = 1e-4;
/** Shrinkage of the covariance within classes. */
export const SHRINKAGE = 4;

/**
 * The axes on which content compares what the network sees (`seenOf`): those along which all pictures differ most compared
 * to pictures of one class.
 *
 * @param pictures What the network sees in pictures of all kinds, 1,280 numbers each in the sizes that are shipped.
 * @param classes And in pictures of one class each. Without any these are in the directions of the principal axes.
 * @returns A mean of 1,280 numbers, and 192 axes of as many, row by row.
 * @throws {Error} when there is nothing by which pictures differ: what it says is for the user.
 */
export function seenAxes(
  pictures: readonly Float64Array[],
  classes: readonly (readonly Float64Array[])[],
  random: () => number,
  sizes = SHIPPED,
): { mean: Float64Array; axes: Float64Array } {
  const { head, pool, poolAxes, axes: count } = sizes;
  const whitened = whitenedSeen(pictures, classes, random, sizes);
  const { covariances } = scatterOf(whitened.pictures, whitened.classes);
  const axes = classAxes(covariances, whitened.classes, count, SHRINKAGE);

  // Both steps in one: axes on what the network sees itself.
  const byColumn = transpose(axes, head + poolAxes);
  const onPool = transpose(byColumn.slice(head * count), count);
  const channels = timesTransposed(transpose(Float64Array.from(whitened.poolAxes), pool), onPool, poolAxes);
  const both = new Float64Array((head + pool) * count);
  both.set(byColumn.subarray(0, head * count));
  both.set(
    channels.map((value) => whitened.weight * value),
    head * count,
  );
  const raw = (members: readonly Float64Array[]) => toRows(members, head + pool);
  return { mean: centerOf(raw(pictures), classes.map(raw)), axes: transpose(both, count) };
}

/** The numbers of the head, and after them the channels on their whitened axes times `weight`. */
export function whitenedSeen(
  pictures: readonly Float64Array[],
  classes: readonly (readonly Float64Array[])[],
  random: () => number,
  { head, pool, poolAxes }: SeenSizes,
): { pictures: Rows; classes: Rows[]; poolAxes: Float32Array; weight: number } {
  const pools = pictures.map((seen) => seen.subarray(head));
  if (pools.every((one) => distance(one, pools[0] as Float64Array) < LEAST_DIFFERENCE)) {
    throw new Error(`All ${pictures.length} pictures look the same to the network: nothing can be learned from them.`);
  }
  const { mean, axes } = whitenedAxes(toRows(pools, pool), poolAxes, POOL_WHITENING, random);
  const alongAxes = (seen: Float64Array) => project(axes, seen.subarray(head), mean);
  const along = pictures.map(alongAxes);
  const squares = along.reduce((sum, values) => values.reduce((all, value) => all + value * value, sum), 0);
  const weight = POOL_WEIGHT / Math.sqrt(squares / pictures.length);
  const join = (members: readonly Float64Array[], along: readonly Float64Array[]): Rows =>
    toRows(
      members.map((seen, i) => [...seen.subarray(0, head), ...(along[i] ?? []).map((value) => weight * value)]),
      head + poolAxes,
    );
  return {
    pictures: join(pictures, along),
    classes: classes.map((members) => join(members, members.map(alongAxes))),
    poolAxes: axes,
    weight,
  };
}

/** Principal axes, each divided by a power of its variance: 0 leaves them as they are, 0.5 whitens them wholly. */
export function whitenedAxes(
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
