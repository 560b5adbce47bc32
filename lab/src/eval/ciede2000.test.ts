import { describe, expect, it } from '@jest/globals';
import { ciede2000, labOf } from './ciede2000.ts';

describe('CIEDE2000', () => {
  // Test data of Sharma, Wu & Dalal (2005): pairs of colours and their differences.
  it.each([
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1.0],
    [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ] as [[number, number, number], [number, number, number], number][])('of %p and %p is %p', (a, b, difference) => {
    expect(ciede2000(a, b)).toBeCloseTo(difference, 3);
    expect(ciede2000(b, a)).toBeCloseTo(difference, 3);
  });

  it('is based on L*a*b* of sRGB', () => {
    for (const [i, value] of [53.24, 80.09, 67.2].entries()) expect(labOf(255, 0, 0)[i]).toBeCloseTo(value, 1);
    for (const [i, value] of [100, 0, 0].entries()) expect(labOf(255, 255, 255)[i]).toBeCloseTo(value, 1);
  });
});
