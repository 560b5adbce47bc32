import { createHash } from 'node:crypto';
import type { Pixels } from '@akin/imaging';
import { resizeArea } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { colorsOf } from '../../test/colors-of.ts';
import { gray, noise, withNoise } from '../../test/noise.ts';
import { disc, draw, stripes } from '../picture/drawing.ts';
import type { ColorAnalysis } from './analyze.ts';
import { COLOR_NAMES } from './names.ts';

const plain = (hex: string, width = 64, height = 64) => draw(width, height, () => hex);
const distance = (a: Float32Array, b: Float32Array) => Math.hypot(...a.map((value, i) => value - (b[i] as number)));

/** A product on a plain background: a body, a darker part, a small accent. */
function product(ground: string, body: string, part: string, accent: string, side = 240): Pixels {
  return draw(side, side, (x, y) => {
    if (Math.hypot(x - 0.62, y - 0.4) < 0.06) return accent;
    if (x > 0.3 && x < 0.7 && y > 0.6 && y < 0.8) return part;
    return Math.hypot(x - 0.5, y - 0.5) < 0.33 ? body : ground;
  });
}

function expectSound(analysis: ColorAnalysis): void {
  const { paletteHex, paletteFreq, names, descriptor } = analysis;
  expect(paletteHex.length).toBeGreaterThanOrEqual(1);
  expect(paletteHex.length).toBeLessThanOrEqual(5);
  expect(new Set(paletteHex).size).toBe(paletteHex.length);
  for (const hex of paletteHex) expect(hex).toMatch(/^#[0-9A-F]{6}$/);
  expect(paletteFreq).toHaveLength(paletteHex.length);
  expect(paletteFreq).toEqual([...paletteFreq].sort((a, b) => b - a));
  for (const share of paletteFreq) expect(String(share)).toMatch(/^(1|0\.\d{1,4})$/);
  expect(paletteFreq.reduce((sum, share) => sum + Math.round(share * 10000), 0)).toBe(10000);
  expect(names.length).toBeGreaterThanOrEqual(1);
  for (const name of names) expect(COLOR_NAMES.map((entry) => entry.name)).toContain(name);
  expect(new Set(names).size).toBe(names.length);
  expect(descriptor).toHaveLength(64);
  expect(Math.hypot(...descriptor)).toBeCloseTo(1, 5);
}

describe('the palette', () => {
  it.each(['#000000', '#FFFFFF', '#808080', '#FF0000', '#0000FF', '#1B2A4E', '#FEFEFE', '#010000'])(
    'of a picture that is all %s is that colour',
    (hex) => {
      expect(colorsOf(plain(hex))).toMatchObject({ paletteHex: [hex], paletteFreq: [1], isolated: false });
    },
  );

  it('ignores a plain background of any colour', () => {
    for (const ground of ['#FFFFFF', '#101010', '#88AACC']) {
      const { paletteHex, names, isolated } = colorsOf(disc(ground, '#D01010'));
      expect({ paletteHex, names, isolated }).toEqual({ paletteHex: ['#D01010'], names: ['red'], isolated: true });
    }
  });

  it('contains body, part and accent of a product by descending share', () => {
    const { paletteHex, paletteFreq, names } = colorsOf(product('#FFFFFF', '#2060C0', '#202020', '#F8D818'));
    expect(paletteHex.slice(0, 2)).toEqual(['#2060C0', '#202020']);
    expect(names).toEqual(['blue', 'black', 'yellow']);
    expect(paletteFreq[0]).toBeGreaterThan(0.6);
    expect(paletteFreq[2]).toBeGreaterThan(0.02);
  });

  it('treats shades of a colour as one colour', () => {
    const shaded = draw(200, 200, (x, y) => {
      if (Math.hypot(x - 0.5, y - 0.5) > 0.35) return '#FFFFFF';
      const red = Math.round(110 + 130 * (1 - y)).toString(16);
      return `#${red}1818`;
    });
    const { paletteHex, names } = colorsOf(shaded);
    expect(paletteHex).toHaveLength(1);
    expect(names).toEqual(['red']);
  });

  it('shares the picture between all modules', () => {
    const flag = draw(120, 80, (x) => (x < 0.5 ? '#2050C0' : x < 0.8 ? '#E8E8E8' : '#D02020'));
    const { paletteHex, paletteFreq, isolated } = colorsOf(flag);
    expect(paletteHex).toEqual(['#2050C0', '#E8E8E8', '#D02020']);
    expect(paletteFreq.map((share) => Math.round(share * 10))).toEqual([5, 3, 2]);
    expect(isolated).toBe(false);
  });

  it('does not merge dark, medium and bright of one hue step by step', () => {
    const wall = draw(256, 256, (x) => {
      const byte = (value: number) =>
        Math.round(value * (0.3 + 0.7 * x))
          .toString(16)
          .padStart(2, '0');
      return `#${byte(220)}${byte(150)}${byte(70)}`;
    });
    expect(colorsOf(wall).paletteHex).toHaveLength(3);
  });

  it('prefers a small yellow object to another shade', () => {
    const shades = ['#533F23', '#756C6A', '#A3908A', '#BEAEA4', '#E2D9BA', '#23190F', '#8F725E', '#3D2816'];
    const shelf = draw(256, 256, (x, y) =>
      Math.max(Math.abs(x - 0.5), Math.abs(y - 0.5)) < 0.1
        ? '#B3A658'
        : (shades[(Math.floor(x * 16) * 3 + Math.floor(y * 16) * 5) % 8] as string),
    );
    expect(colorsOf(shelf).paletteHex).toContain('#B3A658');
  });

  it('has at most five colours of many', () => {
    const inks = ['#E02020', '#20A040', '#2040D0', '#F0D020', '#202020', '#F0F0F0', '#A030A0', '#20C0C0', '#F08020'];
    const many = colorsOf(draw(180, 180, (x, y) => inks[Math.floor(x * 3) + 3 * Math.floor(y * 3)] as string));
    expectSound(many);
    expect(many.paletteHex).toHaveLength(5);
  });
});

describe('an isolated subject', () => {
  it('may touch one side', () => {
    const standing = draw(200, 200, (x, y) => (x > 0.3 && x < 0.7 && y > 0.3 ? '#207040' : '#F4F4F4'));
    expect(colorsOf(standing)).toMatchObject({ isolated: true, names: ['green'] });
  });

  it('may stand on a backdrop that is lit unevenly', () => {
    const lit = draw(200, 200, (x, y) => (Math.hypot(x - 0.5, y - 0.5) < 0.25 ? '#C02020' : gray(205 + 45 * y)));
    const { isolated, names } = colorsOf(lit);
    expect({ isolated, names }).toEqual({ isolated: true, names: ['red'] });
  });

  it('keeps the content inside of it', () => {
    const ring = draw(200, 200, (x, y) => {
      const r = Math.hypot(x - 0.5, y - 0.5);
      return r < 0.2 || r > 0.4 ? '#FFFFFF' : '#2040C0';
    });
    expect(colorsOf(ring).names).toEqual(['blue', 'white']);
    expect(colorsOf(ring).isolated).toBe(true);
  });

  it('is not seen in a picture of one colour, in stripes, in noise, or where two colours share the border', () => {
    const pictures = [
      plain('#FFFFFF'),
      stripes('#FFFFFF', '#C02020'),
      noise(120, 90),
      draw(100, 100, (x, y) => (Math.hypot(x - 0.5, y - 0.5) < 0.2 ? '#C02020' : y < 0.5 ? '#80B0F0' : '#50A040')),
    ];
    for (const picture of pictures) expect(colorsOf(picture).isolated).toBe(false);
  });
});

describe('the descriptor', () => {
  const original = product('#F8F8F8', '#2060C0', '#202020', '#F0C020', 480);

  it('does not depend on size', () => {
    const { descriptor } = colorsOf(original);
    for (const side of [256, 97, 64]) {
      expect(distance(colorsOf(resizeArea(original, side, side)).descriptor, descriptor)).toBeLessThan(0.1);
    }
  });

  it('does not depend on shape', () => {
    const { descriptor, isolated } = colorsOf(original);
    for (const [width, height] of [
      [480, 100],
      [150, 600],
    ] as const) {
      const stretched = colorsOf(resizeArea(original, width, height));
      expect(distance(stretched.descriptor, descriptor)).toBeLessThan(0.1);
      expect(stretched.isolated).toBe(isolated);
    }
  });

  it('hardly changes with what compression does', () => {
    expect(distance(colorsOf(withNoise(original, 6)).descriptor, colorsOf(original).descriptor)).toBeLessThan(0.05);
  });

  it('gives a mirrored picture the same descriptor', () => {
    const mirrored = draw(128, 128, (x, y) => (x > 0.7 ? '#C02020' : y > 0.5 ? '#2040C0' : '#E0E0E0'));
    const picture = draw(128, 128, (x, y) => (x < 0.3 ? '#C02020' : y > 0.5 ? '#2040C0' : '#E0E0E0'));
    expect(distance(colorsOf(mirrored).descriptor, colorsOf(picture).descriptor)).toBeLessThan(0.02);
  });

  it('counts an accent', () => {
    const without = colorsOf(product('#FFFFFF', '#808080', '#202020', '#808080'));
    const red = colorsOf(product('#FFFFFF', '#808080', '#202020', '#E02020'));
    const yellow = colorsOf(product('#FFFFFF', '#808080', '#202020', '#F0C020'));
    expect(distance(red.descriptor, without.descriptor)).toBeGreaterThan(0.1);
    expect(distance(red.descriptor, yellow.descriptor)).toBeGreaterThan(0.1);
  });
});

describe('any picture', () => {
  const pictures: [string, Pixels][] = [
    ['1x1', plain('#336699', 1, 1)],
    ['1x4000', draw(1, 4000, (_, y) => (y < 0.5 ? '#000000' : '#FFFFFF'))],
    ['4000x1', draw(4000, 1, (x) => gray(255 * x))],
    ['2x3', noise(2, 3)],
    ['noise', noise(256, 256)],
    ['a gray gradient', draw(256, 256, (x) => gray(255 * x))],
    [
      'a gradient of hues',
      draw(
        256,
        64,
        (x, y) =>
          `#${Math.floor(x * 255)
            .toString(16)
            .padStart(2, '0')}80${Math.floor(y * 255)
            .toString(16)
            .padStart(2, '0')}`,
      ),
    ],
    ['one odd pixel', draw(128, 128, (x, y) => (x > 0.5 && x < 0.508 && y > 0.5 && y < 0.508 ? '#FF0000' : '#FFFFFF'))],
    ['a frame', draw(128, 128, (x, y) => (Math.min(x, y, 1 - x, 1 - y) < 0.02 ? '#000000' : gray(255 * x)))],
  ];

  it.each(pictures)('has sound outputs: %s', (_, picture) => {
    expectSound(colorsOf(picture));
  });

  it('keeps its pixels', () => {
    const picture = noise(64, 64);
    const before = picture.data.slice();
    colorsOf(picture);
    expect(picture.data).toEqual(before);
  });

  it('has the same outputs on this machine as the stored ones', () => {
    const hash = createHash('sha256');
    for (const [, picture] of pictures) {
      const { descriptor, ...rest } = colorsOf(picture);
      hash.update(JSON.stringify(rest)).update(new Uint8Array(descriptor.buffer));
    }
    expect(hash.digest('hex')).toBe('97b1134dee98b40165a6f912ec8856e9be3e26484f1e4afe701e6446c6634294');
  });
});
