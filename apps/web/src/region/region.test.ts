import { describe, expect, it } from '@jest/globals';
import { MIDDLE, moveRegion, readRegion, regionBetween, regionText, resizeRegion } from './region.ts';

describe('a part of a picture', () => {
  it('stays inside of the picture when it is moved or resized', () => {
    expect(moveRegion(MIDDLE, 0.1, -0.1)).toEqual({ ...MIDDLE, x: 0.35, y: 0.15 });
    expect(moveRegion(MIDDLE, 5, -5)).toEqual({ ...MIDDLE, x: 0.5, y: 0 });
    expect(resizeRegion(MIDDLE, 5, -5)).toEqual({ x: 0.25, y: 0.25, w: 0.75, h: 0.05 });
  });

  it.each([
    [{ x: 0.2, y: 0.4 }, { x: 0.6, y: 0.1 }, '0.2,0.1,0.4,0.3'],
    [{ x: -1, y: -1 }, { x: 2, y: 2 }, '0,0,1,1'],
    [{ x: 1, y: 1 }, { x: 1, y: 1 }, '0.95,0.95,0.05,0.05'],
  ])('lies between %j and %j', (one, other, text) => {
    expect(regionText(regionBetween(one, other))).toBe(text);
  });

  it('is never beyond the picture as text, and is read back', () => {
    for (let i = 0; i < 1_000; i += 1) {
      const [x, y] = [Math.random(), Math.random()];
      const text = regionText({ x, y, w: 1 - x, h: 1 - y });
      const [left = 0, top = 0, width = 0, height = 0] = text.split(',').map(Number);
      expect(Math.max(left + width, top + height)).toBeLessThanOrEqual(1 + 1e-9);
      expect(readRegion(text)).toBeDefined();
    }
  });

  it.each([null, '', '1,2,3', '0,0,0,1', '0,0,1,1.1', 'a,b,c,d', '0,0,1,1,1', '-0.1,0,1,1', '0.6,0,0.5,1'])(
    'is not %j',
    (text) => {
      expect(readRegion(text)).toBeUndefined();
    },
  );
});
