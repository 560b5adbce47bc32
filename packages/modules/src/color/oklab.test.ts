import { describe, expect, it } from '@jest/globals';
import { hexOf, LINEAR, pointOf, pointOfHex, rgbOf } from './oklab.ts';

describe('the colour space', () => {
  it('has linear light within 1e-12 of the formula with a power', () => {
    for (const byte of [0, 1, 10, 11, 64, 128, 200, 255]) {
      const c = byte / 255;
      expect(LINEAR[byte]).toBeCloseTo(c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4, 12);
    }
  });

  it('agrees with published OKLab values, a and b doubled and lightness through the toe', () => {
    const toe = (x: number) => {
      const t = (1.206 / 1.03) * x - 0.206;
      return 0.5 * (t + Math.sqrt(t * t + 4 * 0.03 * (1.206 / 1.03) * x));
    };
    const red = pointOf(255, 0, 0);
    expect(red[0]).toBeCloseTo(toe(0.62796), 3);
    expect(red[1]).toBeCloseTo(2 * 0.22486, 3);
    expect(red[2]).toBeCloseTo(2 * 0.12585, 3);
    const blue = pointOf(0, 0, 255);
    expect(blue[0]).toBeCloseTo(toe(0.45201), 3);
    expect(blue[1]).toBeCloseTo(2 * -0.03246, 3);
    expect(blue[2]).toBeCloseTo(2 * -0.31153, 3);
    expect(pointOf(255, 255, 255)[0]).toBeCloseTo(1, 4);
    expect(pointOf(0, 0, 0)).toEqual(new Float64Array(3));
  });

  it('returns every given colour', () => {
    for (let r = 0; r < 256; r += 15) {
      for (let g = 0; g < 256; g += 15) {
        for (let b = 0; b < 256; b += 5) {
          const [x = 0, y = 0, z = 0] = pointOf(r, g, b);
          expect(rgbOf(x, y, z)).toEqual([r, g, b]);
        }
      }
    }
  });

  it('cuts colours that sRGB does not have', () => {
    expect(rgbOf(1, 0.9, 0.9)[0]).toBe(255);
    expect(rgbOf(0, 0, -0.9).every((channel) => channel >= 0 && channel <= 255)).toBe(true);
  });

  it('reads and writes #RRGGBB', () => {
    expect(hexOf(0, 10, 255)).toBe('#000AFF');
    expect(pointOfHex('#0A0bFf')).toEqual(pointOf(10, 11, 255));
  });
});
