import { expect, it } from '@jest/globals';
import { codebookOf } from '../vectors/codebook.ts';
import { nearestCells } from '../vectors/codes.ts';
import { GROUP_SCORE, groupRule } from './grouping.ts';

it('compares within the most likely 220 pairs of nearest and second nearest centroid', () => {
  const codebook = codebookOf('duplicate');
  const { cellCount, dimensions } = codebook;
  const vector = codebook.cells.slice(7 * dimensions, 8 * dimensions);
  const order = [...nearestCells(codebook, vector)];
  const pairs = order.flatMap((first, nearest) =>
    order.map((other, second) => ({ nearest, second, cell: first * cellCount + other })),
  );
  const likeliest = pairs
    .filter(({ nearest, second }) => nearest !== second)
    .sort((a, b) => 2 * a.nearest + a.second - (2 * b.nearest + b.second) || a.nearest - b.nearest);
  expect(groupRule().cellsOf(vector)).toEqual(likeliest.slice(0, 220).map(({ cell }) => cell));
});

it('has the same scores by another calibration', () => {
  const { sameScore, maxDistance } = groupRule();
  const line = [
    [0, 1],
    [2, 0],
  ] as const;
  expect(sameScore('duplicate', maxDistance, line)).toBeCloseTo(2 * (1 - GROUP_SCORE), 5);
});
