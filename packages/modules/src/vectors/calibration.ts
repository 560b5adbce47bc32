import type { Calibration } from '@akin/domain';
import { codebookOf } from './codebook.ts';

/**
 * The score of a distance: 1 only at distance 0, descending to 0 at distance 2 (opposite vectors), linear between the
 * points of the module's calibration. A score has the same meaning in every collection; see learn/calibration.ts.
 *
 * @param points the points of the model of the two descriptors; default: those of the model in use
 */
export function scoreOf(
  module: string,
  distance: number,
  points: Calibration = codebookOf(module).calibration,
): number {
  if (distance <= 0) return 1;
  for (let i = 1; i < points.length; i++) {
    const [from, high] = points[i - 1] as readonly [number, number];
    const [to, low] = points[i] as readonly [number, number];
    if (distance < to) return Math.min(high - ((high - low) * (distance - from)) / (to - from), BELOW_ONE);
  }
  return 0;
}

/** The largest number below 1: the maximum score of a picture that is not equal. */
const BELOW_ONE = 1 - Number.EPSILON / 2;

/**
 * The inverse, for `rank.threshold`: the largest distance that still has this score. The next larger distance scores
 * less, so that a threshold taken from a response finds its document again. Infinity for 0 and below, because in half
 * precision opposite vectors can be slightly more than 2 apart.
 */
export function distanceAt(
  module: string,
  score: number,
  points: Calibration = codebookOf(module).calibration,
): number {
  if (score >= 1) return 0;
  for (let i = 1; i < points.length; i++) {
    const [from, high] = points[i - 1] as readonly [number, number];
    const [to, low] = points[i] as readonly [number, number];
    if (score > low)
      return farthestWithScore(score, from + ((high - score) * (to - from)) / (high - low), (d) =>
        scoreOf(module, d, points),
      );
  }
  return Number.POSITIVE_INFINITY;
}

/** Larger than the rounding error of a distance. */
const ROUNDING = 1e-9;

/** The last of the adjacent numbers around `distance` that still has the score. */
function farthestWithScore(score: number, distance: number, scoreAt: (distance: number) => number): number {
  let inside = Math.max(0, distance - ROUNDING);
  let outside = distance + ROUNDING;
  for (;;) {
    const middle = (inside + outside) / 2;
    if (middle <= inside || middle >= outside) return inside;
    if (scoreAt(middle) >= score) inside = middle;
    else outside = middle;
  }
}
