import { describe, expect, it } from '@jest/globals';
import { averagePrecision, averagePrecisionOf, rankCorrelation } from './ranking.ts';

describe('average precision', () => {
  it('is 1 when all that is relevant comes first, and falls with every wrong result before it', () => {
    expect(averagePrecision([true, true, false])).toBe(1);
    expect(averagePrecision([false, true, false, true])).toBe((1 / 2 + 2 / 4) / 2);
    expect(averagePrecision([false])).toBeNaN();
  });

  it('of two sorted lists agrees, and counts equal similarities against', () => {
    expect(averagePrecisionOf(Float64Array.of(9, 7), Float64Array.of(5))).toBe(1);
    expect(averagePrecisionOf(Float64Array.of(8, 6), Float64Array.of(9, 7))).toBe((1 / 2 + 2 / 4) / 2);
    expect(averagePrecisionOf(Float64Array.of(5), Float64Array.of(5))).toBe(1 / 2);
  });
});

describe('rank correlation', () => {
  it('is 1 for the same order and -1 for the opposite one; equal values share their rank', () => {
    expect(rankCorrelation([1, 5, 9], [2, 3, 100])).toBeCloseTo(1);
    expect(rankCorrelation([1, 5, 9], [3, 2, 1])).toBeCloseTo(-1);
    expect(rankCorrelation([1, 1, 2, 3], [1, 1, 2, 3])).toBeCloseTo(1);
  });
});
