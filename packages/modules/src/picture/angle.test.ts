import { describe, expect, it } from '@jest/globals';
import { angleOf } from './angle.ts';

describe('angleOf', () => {
  it('is the angle of a point in every direction, as Math.atan2 says', () => {
    for (let step = -5000; step <= 5000; step++) {
      const angle = (Math.PI * step) / 5000;
      for (const radius of [1e-3, 1, 700]) {
        const [y, x] = [radius * Math.sin(angle), radius * Math.cos(angle)];
        expect(Math.abs(angleOf(y, x) - Math.atan2(y, x))).toBeLessThan(2e-8);
      }
    }
  });

  it('is exact on the axes', () => {
    expect([angleOf(0, 1), angleOf(1, 0), angleOf(0, -1), angleOf(-1, 0)]).toEqual([
      0,
      Math.PI / 2,
      Math.PI,
      -Math.PI / 2,
    ]);
  });
});
