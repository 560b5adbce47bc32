import { covariance, eigen, mean, type Rows, timesTransposed, transpose } from './linear.ts';

export interface Axes {
  readonly mean: Float64Array;
  /** Row by row. */
  readonly axes: Float64Array;
  /** How much all differ along each axis, where what belongs together differs by 1. */
  readonly variances: Float64Array;
}

/**
 * Linear discriminant analysis (Fisher 1936): the axes along which all differ most compared to what belongs together, each
 * scaled so that the latter, with its even share, differs by 1.
 *
 * @param groups Numbers of all pictures. Each group counts as much as another, however many pictures it has.
 * @param changes How what belongs together differs, a row a difference. Without any these are the principal axes.
 * @param evenShare How much of an even spread is added to that of the changes: few pictures know little about many
 *   numbers.
 */
export function discriminantAxes(groups: readonly Rows[], changes: Rows, count: number, evenShare: number): Axes {
  const { width } = changes;
  const center = meanOfGroups(groups);
  const between = sum(groups.map((group) => covariance(group, center)));
  const within = covariance(changes, new Float64Array(width));
  const spread = within.reduce((total, value, i) => total + (i % (width + 1) === 0 ? value : 0), 0) / width || 1;
  for (let i = 0; i < width; i++) within[i * (width + 1)] = (within[i * (width + 1)] as number) + evenShare * spread;
  const { values, vectors } = eigen(within, width);
  // Rows of `whiten` turn a vector so that what belongs together differs by 1 along each.
  const whiten = vectors.map((value, i) => value / Math.sqrt(values[Math.floor(i / width)] as number));
  const seen = timesTransposed(timesTransposed(whiten, between, width), whiten, width);
  const parted = eigen(seen, width);
  const kept = parted.vectors.subarray(0, count * width);
  return {
    mean: center,
    axes: timesTransposed(kept, transpose(whiten, width), width),
    variances: parted.values.subarray(0, count),
  };
}

/** The mean of the groups' means. */
export function meanOfGroups(groups: readonly Rows[]): Float64Array {
  return sum(groups.map(mean)).map((value) => value / groups.length);
}

function sum(arrays: readonly Float64Array[]): Float64Array {
  return arrays.reduce((all, array) => all.map((value, i) => value + (array[i] as number)));
}
