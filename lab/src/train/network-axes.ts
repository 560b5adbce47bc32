import { HEAD_DIMENSIONS, NETWORK_AXES, POOL_DIMENSIONS } from '@akin/modules/internal/content/axes';
import { type Rows, toRows } from '@akin/modules/internal/learn/rows';
import { project } from '@akin/modules/internal/vectors/project';
import { distance } from '@akin/modules/internal/vectors/unit';
import { centerOf, classAxes, scatterOf } from '../learn/discriminant.ts';
import { covariance, mainEigen, mean, timesTransposed, transpose } from '../learn/linear.ts';

/** Minimum number of training pictures: it must exceed the number of axes of the channels. */
export const MIN_PICTURES = 500;

/** Sizes of inputs and axes. */
interface FeatureSizes {
  /** Size of the network's head; the channels of the trunk follow. */
  readonly head: number;
  readonly pool: number;
  /** The channels are projected onto this many principal axes before the discriminant analysis. */
  readonly poolAxes: number;
  /** Number of axes to compute. */
  readonly axes: number;
}

const SHIPPED: FeatureSizes = { head: HEAD_DIMENSIONS, pool: POOL_DIMENSIONS, poolAxes: 256, axes: NETWORK_AXES };
/**
 * Partial whitening: the axes of channels are divided by their variance to this power (0: none, 0.5: full), and
 * multiplied by this weight relative to the head. Fine differences then count, but noise does not dominate.
 */
const POOL_WHITENING = 0.35;
const POOL_WEIGHT = 0.7;
/** Channels nearer than this differ only by rounding. */
const MIN_DIFFERENCE = 1e-4;
/** Shrinkage of the covariance within classes. */
export const SHRINKAGE = 4;

/**
 * Computes the axes for the content features (`networkFeatures`): those along which all pictures differ most compared
 * to pictures of the same class.
 *
 * @param pictures Features of pictures of all kinds, 1,280 numbers each in the shipped sizes.
 * @param classes Features for each class. Without classes the axes are the principal axes.
 * @returns A mean of 1,280 numbers, and 192 axes of the same size, row by row.
 * @throws {Error} when the pictures do not differ; the message is for the user
 */
export function contentAxes(
  pictures: readonly Float64Array[],
  classes: readonly (readonly Float64Array[])[],
  random: () => number,
  sizes = SHIPPED,
): { mean: Float64Array; axes: Float64Array } {
  const { head, pool, poolAxes, axes: count } = sizes;
  const whitened = whitenedFeatures(pictures, classes, random, sizes);
  const { covariances } = scatterOf(whitened.pictures, whitened.classes);
  const axes = classAxes(covariances, whitened.classes, count, SHRINKAGE);

  // Combines both projections: axes on the features themselves.
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

/** The numbers of the head, followed by the channels on their whitened axes times `weight`. */
export function whitenedFeatures(
  pictures: readonly Float64Array[],
  classes: readonly (readonly Float64Array[])[],
  random: () => number,
  { head, pool, poolAxes }: FeatureSizes,
): { pictures: Rows; classes: Rows[]; poolAxes: Float32Array; weight: number } {
  const pools = pictures.map((seen) => seen.subarray(head));
  if (pools.every((one) => distance(one, pools[0] as Float64Array) < MIN_DIFFERENCE)) {
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

/** Principal axes, each divided by its variance to a power: 0 leaves them unchanged, 0.5 whitens them fully. */
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
