import { type Pixels, resizeArea } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { gray, noise, noiseBytes, withNoise } from '../../test/noise.ts';
import { disc, draw, stripes } from '../picture/drawing.ts';
import { analyzeCopyspace } from './analyze.ts';

const ALL = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const BORDER = [0, 1, 2, 3, 5, 6, 7, 8];

/** Lines of strokes like text, in the given part of the picture. */
function text(left: number, top: number, right: number, bottom: number): Pixels {
  return draw(480, 480, (x, y) =>
    x > left && x < right && y > top && y < bottom && Math.floor(y * 40) % 2 === 0 && Math.floor(x * 97) % 3 !== 0
      ? '#202020'
      : '#F4F0E8',
  );
}

describe('copyspace', () => {
  it('is everywhere on a blank picture of any colour and shape', () => {
    for (const hex of ['#FFFFFF', '#000000', '#808080', '#C02060']) {
      expect(analyzeCopyspace(draw(100, 80, () => hex))).toEqual(ALL);
    }
    for (const [width, height] of [
      [1, 1],
      [2, 2],
      [1, 4000],
      [4000, 1],
      [3, 200],
    ] as const) {
      expect(analyzeCopyspace(draw(width, height, () => '#406080'))).toEqual(ALL);
    }
  });

  it('is nowhere in noise, stripes and checks', () => {
    expect(analyzeCopyspace(noise(256, 256, 3))).toEqual([]);
    expect(analyzeCopyspace(stripes('#FFFFFF', '#303030', 24))).toEqual([]);
    const checks = draw(300, 300, (x, y) => ((Math.floor(x * 24) + Math.floor(y * 24)) % 2 ? '#C04040' : '#E0C0A0'));
    expect(analyzeCopyspace(checks)).toEqual([]);
  });

  it('is nowhere where edges have no brightness, only colour', () => {
    expect(analyzeCopyspace(stripes('#D04040', '#2F8A2F', 24))).toEqual([]);
  });

  it('is everywhere around a product or a block of text in the centre', () => {
    expect(analyzeCopyspace(disc('#FFFFFF', '#C02020', [0.5, 0.5], 0.14))).toEqual(BORDER);
    expect(analyzeCopyspace(text(0.36, 0.36, 0.64, 0.64))).toEqual(BORDER);
  });

  it('is not on a plain subject in the middle, but on a plain middle that continues to a side', () => {
    const shirt = draw(300, 300, (x, y) =>
      Math.max(Math.abs(x - 0.5), Math.abs(y - 0.5)) < 0.19 ? '#2050A0' : '#FFFFFF',
    );
    expect(analyzeCopyspace(shirt)).toEqual(BORDER);
    const path = draw(300, 300, (x) => (Math.abs(x - 0.5) < 0.18 ? '#2050A0' : '#FFFFFF'));
    expect(analyzeCopyspace(path)).toEqual(BORDER);
    const sea = draw(300, 300, (_, y) => (y > 0.31 ? '#2050A0' : '#FFFFFF'));
    expect(analyzeCopyspace(sea)).toEqual(ALL);
  });

  it('leaves out the cells that text covers', () => {
    expect(analyzeCopyspace(text(0.03, 0.03, 0.97, 0.3))).toEqual([3, 4, 5, 6, 7, 8]);
    expect(analyzeCopyspace(text(0.4, 0.7, 0.95, 0.97))).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('is in a sky, whose soft gradient is calm', () => {
    const next = noiseBytes(5);
    const landscape = draw(300, 300, (_, y) => (y < 0.66 ? gray(150 + 90 * y) : gray(40 + (next() % 150))));
    expect(analyzeCopyspace(landscape)).toEqual([0, 1, 2, 3, 4, 5]);
    const red = (y: number) =>
      Math.round(255 * Math.min(1, 2 * y))
        .toString(16)
        .padStart(2, '0');
    expect(analyzeCopyspace(draw(300, 300, (_, y) => `#${red(y)}90C8`))).toEqual(ALL);
  });

  it('is not on texture, nor on a few thin lines', () => {
    const canvas = draw(96, 96, (x, y) => gray(120 + 16 * ((Math.floor(x * 48) + Math.floor(y * 48)) % 3)));
    expect(analyzeCopyspace(canvas)).toEqual([]);
    const ruled = draw(96, 96, (_, y) => (Math.floor(y * 96) % 16 === 8 ? '#B0B0B0' : '#E8E8E8'));
    expect(analyzeCopyspace(ruled)).toEqual([]);
  });

  it('is not where neither black nor white text is readable', () => {
    const halves = draw(384, 384, (x) => (x < 1 / 6 ? '#484848' : '#A8A8A8'));
    expect(analyzeCopyspace(halves)).toEqual([1, 2, 4, 5, 7, 8]);
  });

  it('stays the same under scaling and compression', () => {
    for (const picture of [
      text(0.03, 0.03, 0.97, 0.3),
      text(0.36, 0.36, 0.64, 0.64),
      disc('#EEE8DD', '#205080', [0.3, 0.6], 0.2),
    ]) {
      const calm = analyzeCopyspace(picture);
      for (const side of [1200, 333, 160, 96]) expect(analyzeCopyspace(resizeArea(picture, side, side))).toEqual(calm);
      expect(analyzeCopyspace(withNoise(picture, 8))).toEqual(calm);
    }
  });

  it('keeps the pixels', () => {
    const picture = stripes('#FFFFFF', '#303030');
    const before = picture.data.slice();
    analyzeCopyspace(picture);
    expect(picture.data).toEqual(before);
  });
});
