import type { Calibration } from '@akin/domain';
import { codebookOf } from './codebook.ts';

/**
 * The score of a distance: 1 at 0 and nowhere else, falling all the way to 0 at distance 2 (opposite vectors), straight
 * between the points of the module's calibration. It means the same in every collection; what it means is said where
 * the points are fitted, in learn/calibration.ts.
 *
 * @param points of the model that made the two descriptors; those of the model that this akin uses when not given
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

/** The largest number below 1: the highest score of a picture that is not equal. */
const BELOW_ONE = 1 - Number.EPSILON / 2;

/**
 * The inverse: the largest distance that still has this score, for `rank.threshold`; what lies farther away by the least
 * bit scores less, so that a score that an answer shows finds its document again. Infinity for 0 and below, because half
 * precision lets opposite vectors be a hair more than 2 apart.
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
      return lastWith(score, from + ((high - score) * (to - from)) / (high - low), (d) => scoreOf(module, d, points));
  }
  return Number.POSITIVE_INFINITY;
}

/** More than rounding moves a distance by. */
const ROUNDING = 1e-9;

/** Between two neighbouring numbers around `distance`, the last that has the score. */
function lastWith(score: number, distance: number, scoreAt: (distance: number) => number): number {
  let inside = Math.max(0, distance - ROUNDING);
  let outside = distance + ROUNDING;
  for (;;) {
    const middle = (inside + outside) / 2;
    if (middle <= inside || middle >= outside) return inside;
    if (scoreAt(middle) >= score) inside = middle;
    else outside = middle;
  }
}
