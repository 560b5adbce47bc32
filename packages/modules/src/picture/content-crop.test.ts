import { type Pixels, resizeArea } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { gray } from '../../test/noise.ts';
import { contentCrops } from './content-crop.ts';
import { draw } from './drawing.ts';
import { ORIENTATIONS, oriented } from './orientations.ts';
import { SQUARE } from './picture.ts';

const byte = (value: number) => Math.round(value).toString(16).padStart(2, '0');
const inside = (x: number, y: number) => `#${byte(255 * x)}${byte(255 * y)}80`;

const bothOf = (pixels: Pixels) => contentCrops(pixels, resizeArea(pixels, SQUARE, SQUARE));

/** The only crop of a picture whose background is unambiguous. */
function cropOf(pixels: Pixels): Pixels {
  const [only, second] = bothOf(pixels);
  expect(second).toBeUndefined();
  return only as Pixels;
}

/** A picture with bars of these shares: above and below, left and right. */
const barred = (high: number, wide: number, color: string) =>
  draw(200, 200, (x, y) =>
    x < wide || x > 1 - wide || y < high || y > 1 - high
      ? color
      : inside((x - wide) / (1 - 2 * wide), (y - high) / (1 - 2 * high)),
  );

/** A page: a bar with a title, a picture with margins, two lines of text. The picture is at 0.1…0.9 and 0.2…0.7. */
const page = (paper: string, ink: string) =>
  draw(300, 300, (x, y) => {
    const written = Math.sin(170 * x) > 0;
    if (y < 0.12) return y > 0.04 && y < 0.08 && x < 0.4 && written ? paper : '#5060A0';
    if (x > 0.1 && x < 0.9 && y > 0.2 && y < 0.7) return inside((x - 0.1) / 0.8, (y - 0.2) / 0.5);
    const line = (y > 0.78 && y < 0.81) || (y > 0.87 && y < 0.9);
    return line && x > 0.1 && x < 0.8 && written ? ink : paper;
  });

describe('the content crop', () => {
  it.each([
    ['letterbox', 0.2, 0, '#000000', [200, 120]],
    ['pillars', 0, 0.1, '#FFFFFF', [160, 200]],
    ['a frame', 0.1, 0.1, '#2040D0', [160, 160]],
  ])('%s is cut off', (_, high, wide, color, [width, height]) => {
    const { width: w, height: h, data } = cropOf(barred(high, wide, color));
    // Exact to a pixel, on both sides, of the small version in which lines are searched.
    expect(Math.abs(w - (width as number))).toBeLessThanOrEqual(4);
    expect(Math.abs(h - (height as number))).toBeLessThanOrEqual(4);
    expect(data.length).toBe(3 * w * h);
  });

  it.each(['rows', 'columns'])('a frame is cut off of plain %s, too', (lines) => {
    const framed = draw(240, 240, (x, y) => {
      if (Math.abs(x - 0.5) > 0.3 || Math.abs(y - 0.5) > 0.3) return '#FFFFFF';
      return Math.floor(10 * (lines === 'rows' ? y : x)) % 2 ? '#203080' : '#C01030';
    });
    const { width, height } = cropOf(framed);
    expect(Math.abs(width - 144)).toBeLessThanOrEqual(4);
    expect(Math.abs(height - 144)).toBeLessThanOrEqual(4);
  });

  it.each([
    ['light', '#FAFAFC', '#282832'],
    ['dark', '#18191E', '#DCDCE1'],
  ])('a %s page with a title and text is cut off', (_, paper, ink) => {
    const { width, height } = cropOf(page(paper, ink));
    expect(Math.abs(width - 240)).toBeLessThanOrEqual(6);
    expect(Math.abs(height - 150)).toBeLessThanOrEqual(6);
  });

  it('ends at the same place in a smaller version of the picture', () => {
    const picture = barred(0.15, 0, '#101010');
    const { height } = cropOf(picture);
    expect(Math.abs(2 * cropOf(resizeArea(picture, 100, 100)).height - height)).toBeLessThanOrEqual(4);
  });

  describe('an ambiguous background', () => {
    /** A picture on a wall that becomes slightly darker from one end to the other. */
    const onWall = (fade: number) =>
      draw(200, 200, (x, y) => {
        if (x > 0.3 && x < 0.7 && y > 0.3 && y < 0.7) return inside((x - 0.3) / 0.4, (y - 0.3) / 0.4);
        return gray(150 + fade * (x - 0.5) + fade * (y - 0.5));
      });

    it('a picture is returned with its wall and without it', () => {
      const [strict, loose] = bothOf(onWall(16)) as [Pixels, Pixels];
      expect([strict.width, strict.height]).toEqual([200, 200]);
      expect(Math.abs(loose.width - 80)).toBeLessThanOrEqual(6);
      expect(Math.abs(loose.height - 80)).toBeLessThanOrEqual(6);
    });

    it('a plainer wall is always cropped, and a textured one is kept', () => {
      expect(Math.abs(cropOf(onWall(2)).width - 80)).toBeLessThanOrEqual(6);
      const lively = onWall(120);
      expect(cropOf(lively)).toBe(lively);
    });

    it('noise on bars is ambiguous: the strict crop keeps them', () => {
      const picture = barred(0.15, 0, '#101010');
      const noisy = { ...picture, data: picture.data.map((value, i) => Math.min(255, value + ((i * 7919) % 41))) };
      const [strict, loose] = bothOf(noisy) as [Pixels, Pixels];
      expect(strict).toBe(noisy);
      expect(Math.abs(loose.height - cropOf(picture).height)).toBeLessThanOrEqual(4);
    });

    it('nearly equal texts are one result', () => {
      const soft = draw(200, 200, (x, y) => {
        if (y > 0.23) return inside(x, (y - 0.23) / 0.77);
        return gray(y < 0.2 ? 128 : 118 + 20 * x);
      });
      expect(Math.abs(cropOf(soft).height - 160)).toBeLessThanOrEqual(4);
    });
  });

  describe('two pictures in one', () => {
    const calm = (x: number, y: number) => `#${byte(120 + 30 * x)}${byte(140 + 30 * y)}C0`;
    const lively = (x: number, y: number) => (Math.sin(20 * x + 17 * y) > 0 ? '#101010' : '#F0D020');
    type Paint = typeof calm;
    const beside = (left: Paint, right: Paint, at = 0.5) =>
      draw(200, 120, (x, y) => (x < at ? left(x / at, y) : right((x - at) / (1 - at), y)));
    const above = (top: Paint, bottom: Paint) =>
      draw(120, 200, (x, y) => (y < 0.5 ? top(x, 2 * y) : bottom(x, 2 * y - 1)));

    it.each([
      ['left', beside(lively, calm), [100, 120]],
      ['right', beside(calm, lively), [100, 120]],
      ['above', above(lively, calm), [120, 100]],
      ['below', above(calm, lively), [120, 100]],
    ])('the one with more contrast is kept: %s', (_, pixels, [width, height]) => {
      expect(cropOf(pixels)).toEqual(draw(width as number, height as number, lively));
    });

    it('must each fill a half, with an edge between them along nearly the whole side', () => {
      const third = beside(calm, lively, 0.35);
      expect(cropOf(third)).toBe(third);
      const soft = draw(200, 120, (x, y) => (y < 0.8 && x < 0.5 ? '#303060' : calm(x, y)));
      expect(cropOf(soft)).toBe(soft);
      const single = draw(200, 120, lively);
      expect(cropOf(single)).toBe(single);
    });

    const speckled = draw(256, 256, (x, y) => {
      const grain = (Math.imul(Math.floor(64 * x) * 64 + Math.floor(64 * y), 0x9e3779b1) >>> 8) % 97;
      return `#${byte(60 + grain)}${byte(150 - grain)}${byte(40 + 2 * grain)}`;
    });
    const flag = draw(300, 200, (_, y) => (y < 0.5 ? '#FFFFFF' : '#C01030'));
    const board = draw(256, 256, (x, y) => ((Math.floor(8 * x) + Math.floor(8 * y)) % 2 ? '#202020' : '#E0E0D0'));
    const stripes = draw(256, 256, (x) => (Math.floor(16 * x) % 2 ? '#203080' : '#E0C0A0'));
    const grid = draw(240, 240, (x, y) => (x < 0.5 === y < 0.5 ? lively : calm)((2 * x) % 1, (2 * y) % 1));
    const alike = beside(lively, (x, y) => (Math.sin(17 * x + 20 * y) > 0 ? '#F0D020' : '#101010'));
    it.each([
      ['grain', speckled],
      ['a flag of two colours', flag],
      ['a chessboard', board],
      ['four pictures', grid],
      ['two of like contrast', alike],
    ])('are not seen in %s', (_, pixels) => {
      expect(cropOf(pixels)).toBe(pixels);
    });

    it('only plain lines are cropped from stripes', () => {
      expect(cropOf(stripes)).toBe(stripes);
    });
  });

  it('keeps all of several parts when none stands out', () => {
    const two = draw(240, 100, (x, y) => (Math.abs(x - 0.5) < 0.04 ? '#FFFFFF' : inside((2 * x) % 1, y)));
    expect(cropOf(two)).toBe(two);
  });

  it('crops at the same places in all orientations of a picture', () => {
    const corner = draw(200, 160, (x, y) => {
      if (x > 0.3 && y > 0.4) return inside(x, y);
      if (x < 0.1) return '#202020';
      return y < 0.1 ? '#FFFFFF' : gray(y < 0.35 ? 200 : 200 + 40 * x);
    });
    // The tall part is the main part of the rows, the wide one that of the columns.
    const three = draw(200, 160, (x, y) => {
      const [first, second] = [(at: number) => at > 0.05 && at < 0.3, (at: number) => at > 0.45 && at < 0.95];
      return (first(x) && (first(y) || second(y))) || (first(y) && second(x)) ? inside(x, y) : '#FFFFFF';
    });
    for (const picture of [page('#FAFAFC', '#282832'), corner, three]) {
      const sides = bothOf(picture).map((inner) => [inner?.width, inner?.height]);
      for (let orientation = 1; orientation < ORIENTATIONS; orientation++) {
        const turned = bothOf(oriented(picture, orientation)).map((inner) => [inner?.width, inner?.height]);
        expect([orientation, turned]).toEqual([
          orientation,
          sides.map((two) => (orientation < 4 ? two : two.toReversed())),
        ]);
      }
    }
  });

  it('leaves pictures without surroundings, plain ones and single pixels as they are', () => {
    for (const picture of [draw(50, 40, inside), draw(30, 30, () => '#808080'), draw(1, 1, () => '#000000')]) {
      expect(cropOf(picture)).toBe(picture);
    }
  });
});
