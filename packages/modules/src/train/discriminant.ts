import { covariance, eigen, mean, type Rows, timesTransposed, transpose } from './linear.ts';

/** How much of an even spread is added to that of the copies: few pictures know little about many numbers. */
const EVEN_SHARE = 0.3;

export interface Axes {
  readonly mean: Float64Array;
  /** Row by row. */
  readonly axes: Float64Array;
}

/**
 * Linear discriminant analysis (Fisher 1936): the axes along which strangers differ most compared to copies, each scaled
 * so that copies differ alike on all.
 *
 * @param all Numbers of all pictures.
 * @param changes What edits add to those numbers, a row an edit.
 */
export function discriminantAxes(all: Rows, changes: Rows, count: number): Axes {
  const { width } = all;
  const center = mean(all);
  const between = covariance(all, center);
  const within = covariance(changes, new Float64Array(width));
  const spread = within.reduce((sum, value, i) => sum + (i % (width + 1) === 0 ? value : 0), 0) / width;
  for (let i = 0; i < width; i++) within[i * (width + 1)] = (within[i * (width + 1)] as number) + EVEN_SHARE * spread;
  const { values, vectors } = eigen(within, width);
  // Rows of `whiten` turn a vector so that copies differ by 1 along each.
  const whiten = vectors.map((value, i) => value / Math.sqrt(values[Math.floor(i / width)] as number));
  const seen = timesTransposed(timesTransposed(whiten, between, width), whiten, width);
  const kept = eigen(seen, width).vectors.subarray(0, count * width);
  return { mean: center, axes: timesTransposed(kept, transpose(whiten, width), width) };
}
