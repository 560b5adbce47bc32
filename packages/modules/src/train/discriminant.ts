import { covariance, eigen, mean, type Rows, row, timesTransposed, toRows, transpose } from './linear.ts';

/**
 * Axes of classes are multiplied by this power of how much all pictures differ along them: what parts classes well counts
 * more. Codes of 64 bits and cells then hold the nearest more often, and classes are found as well.
 */
const PARTED = 0.15;

export interface Axes {
  readonly mean: Float64Array;
  /** Row by row. */
  readonly axes: Float64Array;
  /** How much all differ along each axis, where what belongs together differs by 1. */
  readonly variances: Float64Array;
}

/**
 * The axes along which all pictures differ most compared to pictures of one class. The whitening is known as within-class
 * covariance normalization (Hatch, Kajarekar & Stolcke 2006).
 *
 * @param pictures Numbers of pictures of all kinds.
 * @param classes And of pictures of one class each. Without any these are the principal axes.
 * @param evenShare As of {@link discriminantAxes}.
 * @returns Row by row.
 */
export function classAxes(pictures: Rows, classes: readonly Rows[], count: number, evenShare: number): Float64Array {
  const { width } = pictures;
  const groups = groupsOf(pictures, classes);
  const { axes, variances } = discriminantAxes(groups, differences(classes, width), count, evenShare);
  // Along some nothing differs, and rounding makes that less than nothing.
  return axes.map((value, i) => value * Math.max(0, variances[Math.floor(i / width)] as number) ** PARTED);
}

/** What {@link classAxes} lie around: the mean of the pictures, or halfway from it to that of the classes. */
export function centerOf(pictures: Rows, classes: readonly Rows[]): Float64Array {
  return meanOfGroups(groupsOf(pictures, classes));
}

/** Pictures of classes count as much as all others. */
function groupsOf(pictures: Rows, classes: readonly Rows[]): Rows[] {
  return classes.length > 0 ? [pictures, toRows(classes.flatMap(rowsOf), pictures.width)] : [pictures];
}

/** How each picture differs from the mean of its class. */
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
function meanOfGroups(groups: readonly Rows[]): Float64Array {
  return sum(groups.map(mean)).map((value) => value / groups.length);
}

function sum(arrays: readonly Float64Array[]): Float64Array {
  return arrays.reduce((all, array) => all.map((value, i) => value + (array[i] as number)));
}
