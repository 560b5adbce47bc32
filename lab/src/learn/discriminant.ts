import { type Rows, row, toRows } from '@akin/modules/internal/learn/rows';
import { covariance, eigen, mean, timesTransposed, transpose } from './linear.ts';

/**
 * Each discriminant axis is multiplied by its variance over all pictures to this power: weighted by discriminative
 * power. Codes of 64 bits and cells then contain the nearest neighbours more often, and classes are found equally well.
 */
const DISCRIMINATIVE_POWER = 0.15;
/**
 * From this many pictures per dimension on, pictures of classes weigh as much as all others; fewer weigh proportionally
 * less.
 */
const PICTURES_A_NUMBER = 2;

/** The mean and the covariance of pictures. */
interface Scatter {
  readonly mean: Float64Array;
  /** The weighted sum of two covariances: of the pictures with a class, and of those without one. */
  readonly covariances: Float64Array;
}

interface Axes {
  /** Row by row. */
  readonly axes: Float64Array;
  /** Variance of all pictures along each axis, scaled so that the variance within classes is 1. */
  readonly variances: Float64Array;
}

/**
 * Axes by linear discriminant analysis, weighted by discriminative power: along them all pictures differ most compared
 * to pictures of the same class. The whitening is within-class covariance normalization (Hatch, Kajarekar & Stolcke
 * 2006).
 *
 * @param scatter The covariances of {@link scatterOf} all pictures and these classes.
 * @param classes Features of the pictures of each class. Without classes the axes are the principal axes.
 * @param count Number of axes.
 * @param shrinkage As in {@link discriminantAxes}, increased if classes have few pictures.
 * @returns The axes row by row; they differ in length and are not orthogonal.
 */
export function classAxes(
  scatter: Float64Array,
  classes: readonly Rows[],
  count: number,
  shrinkage: number,
): Float64Array {
  const width = Math.sqrt(scatter.length);
  const weight = weightOf(classes);
  const { axes, variances } = discriminantAxes(
    scatter,
    differences(classes, width),
    count,
    weight > 0 ? (1 - weight + shrinkage) / weight : shrinkage,
  );
  // Some axes have zero variance, which rounding can make negative.
  return axes.map(
    (value, i) => value * Math.max(0, variances[Math.floor(i / width)] as number) ** DISCRIMINATIVE_POWER,
  );
}

/** Mean and covariance of all pictures, with and without a class. */
export function scatterOf(pictures: Rows, classes: readonly Rows[]): Scatter {
  const center = centerOf(pictures, classes);
  const parts = groupsOf(pictures, classes).map(({ rows, weight }) => scaled(covariance(rows, center), weight));
  return { mean: center, covariances: sum(parts) };
}

/** Only the mean of {@link scatterOf}. */
export function centerOf(pictures: Rows, classes: readonly Rows[]): Float64Array {
  const groups = groupsOf(pictures, classes);
  const all = groups.reduce((total, { weight }) => total + weight, 0);
  return sum(groups.map(({ rows, weight }) => scaled(mean(rows), weight))).map((value) => value / all);
}

function groupsOf(pictures: Rows, classes: readonly Rows[]): { rows: Rows; weight: number }[] {
  const groups = [
    { rows: pictures, weight: 1 },
    { rows: toRows(classes.flatMap(rowsOf), pictures.width), weight: weightOf(classes) },
  ];
  return groups.filter(({ weight }) => weight > 0);
}

/** The weight of the classes, at most 1. */
function weightOf(classes: readonly Rows[]): number {
  const [{ width } = { width: 1 }] = classes;
  return Math.min(1, classes.reduce((total, { count }) => total + count, 0) / (PICTURES_A_NUMBER * width));
}

/** The difference between each picture and the mean of its class. */
function differences(classes: readonly Rows[], width: number): Rows {
  const all = classes.flatMap((members) => {
    const center = mean(members);
    return rowsOf(members).map((member) => member.map((value, k) => value - (center[k] as number)));
  });
  return toRows(all, width);
}

function rowsOf(rows: Rows): Float32Array[] {
  return Array.from({ length: rows.count }, (_, i) => row(rows, i));
}

/**
 * Linear discriminant analysis (Fisher 1936): the axes along which all pictures differ most compared to pictures that
 * belong together. Each axis is scaled so that the variance within, after shrinkage, is 1.
 *
 * @param scatter Covariance of all pictures.
 * @param changes Differences between pictures that belong together, one a row. Without any, the axes are the principal
 * axes.
 * @param shrinkage Multiple of the mean variance that is added to the diagonal of the covariance within (shrinkage
 * towards a multiple of the identity): few pictures say little about many dimensions.
 */
export function discriminantAxes(scatter: Float64Array, changes: Rows, count: number, shrinkage: number): Axes {
  const { width } = changes;
  const within = covariance(changes, new Float64Array(width));
  const average = within.reduce((total, value, i) => total + (i % (width + 1) === 0 ? value : 0), 0) / width || 1;
  for (let i = 0; i < width; i++) within[i * (width + 1)] = (within[i * (width + 1)] as number) + shrinkage * average;
  const { values, vectors } = eigen(within, width);
  // Multiplying by `whiten` scales the differences within to variance 1 in each direction.
  const whiten = vectors.map((value, i) => value / Math.sqrt(values[Math.floor(i / width)] as number));
  const seen = timesTransposed(timesTransposed(whiten, scatter, width), whiten, width);
  const parted = eigen(seen, width);
  const kept = parted.vectors.subarray(0, count * width);
  return {
    axes: timesTransposed(kept, transpose(whiten, width), width),
    variances: parted.values.subarray(0, count),
  };
}

function scaled(values: Float64Array, by: number): Float64Array {
  return values.map((value) => by * value);
}

function sum(arrays: readonly Float64Array[]): Float64Array {
  return arrays.reduce((all, array) => all.map((value, i) => value + (array[i] as number)));
}
