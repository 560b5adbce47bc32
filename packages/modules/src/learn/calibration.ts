import type { CalibrationScores } from '../module.ts';
import { distance } from '../vectors/unit.ts';
import { type Rows, row } from './rows.ts';

/** Pairs of more pictures change the quantiles by less than 0.01. */
const MAX_PICTURES = 2000;

/**
 * Scores of pairs of unrelated pictures: 0.3 and below means unrelated, 0.7 separates copies from non-matching pairs.
 * Why 0.4: smaller quantiles are not measured on the folder, because they depend on how many copies and series it
 * contains, and not on how similar unrelated pictures can be. The factor was measured once, on 1.5 million pairs of
 * photos of different origin and subject: one in 100,000 scored above 0.7 by content (two since its axes learn from
 * classes). A module may define another factor.
 */
export const NON_MATCHING_SCORES: CalibrationScores = { usual: 0.1, rare: 0.3, near: 0.7, nearAt: 0.4 };

/**
 * The points (distance, score) of a piecewise linear calibration. They are fitted to the distances of unrelated
 * pictures in the folder, so that a score has the same meaning in every collection and for every model.
 */
export function fitCalibration(vectors: Rows, scores: CalibrationScores): [distance: number, score: number][] {
  const step = Math.max(1, Math.ceil(vectors.count / MAX_PICTURES));
  const distances: number[] = [];
  for (let i = 0; i < vectors.count; i += step) {
    for (let j = 0; j < i; j += step) distances.push(distance(row(vectors, i), row(vectors, j)));
  }
  const sorted = Float64Array.from(distances).sort();
  const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 1;
  const rare = Math.min(Math.max(quantile(0.01), 0.01), 1.8);
  const usual = Math.min(Math.max(quantile(0.5), rare + 0.05), 1.9);
  return calibrationAt({ near: scores.nearAt * rare, rare, usual }, scores);
}

/** The points of the three measured distances, between equal and opposite vectors. */
export function calibrationAt(
  { near, rare, usual }: { readonly near: number; readonly rare: number; readonly usual: number },
  scores: CalibrationScores,
): [distance: number, score: number][] {
  const round = (value: number) => Math.round(value * 1e4) / 1e4;
  return [
    [0, 1],
    [round(near), scores.near],
    [round(rare), scores.rare],
    [round(usual), scores.usual],
    [2, 0],
  ];
}
