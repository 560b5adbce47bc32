import { resizeArea } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { draw } from './drawing.ts';
import { trimBars } from './trim.ts';

const inside = (x: number, y: number) =>
  `#${Math.round(255 * x)
    .toString(16)
    .padStart(2, '0')}${Math.round(255 * y)
    .toString(16)
    .padStart(2, '0')}80`;

/** A picture with bars of these shares, above and below, left and right. */
const barred = (high: number, wide: number, color: string) =>
  draw(200, 200, (x, y) =>
    x < wide || x > 1 - wide || y < high || y > 1 - high
      ? color
      : inside((x - wide) / (1 - 2 * wide), (y - high) / (1 - 2 * high)),
  );

describe('bars around a picture', () => {
  it.each([
    ['letterbox', 0.2, 0, '#000000', [200, 120]],
    ['pillars', 0, 0.1, '#FFFFFF', [160, 200]],
    ['a frame', 0.1, 0.1, '#2040D0', [160, 160]],
  ])('%s is cut off', (_, high, wide, color, [width, height]) => {
    const { width: w, height: h, data } = trimBars(barred(high, wide, color));
    // To a pixel of the small version in which bars are found.
    expect(Math.abs(w - (width as number))).toBeLessThanOrEqual(3);
    expect(Math.abs(h - (height as number))).toBeLessThanOrEqual(3);
    expect(data.length).toBe(3 * w * h);
  });

  it('ends at the same place in a smaller version of the picture, and in one with noise', () => {
    const picture = barred(0.15, 0, '#101010');
    const { height } = trimBars(picture);
    expect(Math.abs(2 * trimBars(resizeArea(picture, 100, 100)).height - height)).toBeLessThanOrEqual(4);
    const noisy = { ...picture, data: picture.data.map((value, i) => Math.min(255, value + ((i * 7919) % 41))) };
    expect(Math.abs(trimBars(noisy).height - height)).toBeLessThanOrEqual(4);
  });

  it('leaves pictures without bars, plain ones and single pixels as they are', () => {
    for (const picture of [draw(50, 40, inside), draw(30, 30, () => '#808080'), draw(1, 1, () => '#000000')]) {
      expect(trimBars(picture)).toBe(picture);
    }
  });
});
