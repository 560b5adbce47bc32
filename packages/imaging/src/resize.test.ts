import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { drawNoise } from '../test/pictures.ts';
import { type Pixels, resizeArea } from './resize.ts';

/** The definition in big integers: overlap of each source pixel with each target pixel, rounded half up. */
function slowArea({ width: w, height: h, data }: Pixels, width: number, height: number): Uint8Array {
  const overlap = (i: number, size: number, j: number, target: number) =>
    BigInt(Math.max(0, Math.min((i + 1) * target, (j + 1) * size) - Math.max(i * target, j * size)));
  const result = new Uint8Array(width * height * 3);
  const total = BigInt(w) * BigInt(h);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      for (let channel = 0; channel < 3; channel++) {
        let sum = 0n;
        for (let y = 0; y < h; y++) {
          for (let x = 0; x < w; x++) {
            const share = overlap(x, w, column, width) * overlap(y, h, row, height);
            if (share > 0n) sum += share * BigInt(data[(y * w + x) * 3 + channel] as number);
          }
        }
        result[(row * width + column) * 3 + channel] = Number((2n * sum + total) / (2n * total));
      }
    }
  }
  return result;
}

const side = fc.integer({ min: 1, max: 14 });

describe('resizeArea', () => {
  it('equals the exact area average for any sizes, shrinking and enlarging', () => {
    fc.assert(
      fc.property(side, side, side, side, fc.nat(), (w, h, width, height, seed) => {
        const pixels = drawNoise(w, h, seed);
        expect([...resizeArea(pixels, width, height).data]).toEqual([...slowArea(pixels, width, height)]);
      }),
      { numRuns: 100.0 },
    );
  });

  it('keeps constant pictures constant', () => {
    fc.assert(
      fc.property(
        fc.nat(255),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 300 }),
        (value, from, to) => {
          const pixels = { width: from, height: 7, data: new Uint8Array(from * 7 * 3).fill(value) };
          expect(new Set(resizeArea(pixels, to, 5).data)).toEqual(new Set([value]));
        },
      ),
    );
  });

  it('preserves the mean of the picture within rounding', () => {
    const mean = (data: Uint8Array) => data.reduce((sum, value) => sum + value, 0) / data.length;
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 90 }), fc.integer({ min: 20, max: 90 }), fc.nat(), (w, h, seed) => {
        const pixels = drawNoise(w, h, seed);
        expect(Math.abs(mean(resizeArea(pixels, 16, 16).data) - mean(pixels.data))).toBeLessThan(0.6);
      }),
    );
  });

  it('averages whole blocks for an integer factor', () => {
    const data = new Uint8Array([0, 0, 0, 10, 20, 30, 10, 20, 30, 20, 40, 61]);
    expect([...resizeArea({ width: 2, height: 2, data }, 1, 1).data]).toEqual([10, 20, 30]);
  });

  it('repeats pixels when enlarging by a whole factor and mixes them on borders otherwise', () => {
    const line = { width: 2, height: 1, data: new Uint8Array([0, 0, 0, 90, 90, 90]) };
    const reds = (pixels: Pixels) => [...pixels.data].filter((_, i) => i % 3 === 0);
    expect(reds(resizeArea(line, 4, 1))).toEqual([0, 0, 90, 90]);
    expect(reds(resizeArea(line, 3, 1))).toEqual([0, 45, 90]);
  });

  it('stays exact if sums exceed 32 bits', () => {
    const pixels = { width: 5000, height: 4000, data: new Uint8Array(5000 * 4000 * 3).fill(255) };
    expect(new Set(resizeArea(pixels, 3, 7).data)).toEqual(new Set([255]));
  });

  it('returns the same pixels for the same size, and does not change its input', () => {
    const pixels = drawNoise(9, 4);
    const before = [...pixels.data];
    expect(resizeArea(pixels, 9, 4)).toBe(pixels);
    resizeArea(pixels, 3, 3);
    expect([...pixels.data]).toEqual(before);
  });

  it.each([
    [0, 5],
    [5, -1],
    [1.5, 5],
    [Number.NaN, 5],
  ])('refuses a target of %p x %p', (width, height) => {
    expect(() => resizeArea(drawNoise(4, 4), width, height)).toThrow(RangeError);
  });

  it('refuses pixels whose data do not fit their size', () => {
    expect(() => resizeArea({ width: 4, height: 4, data: new Uint8Array(47) }, 2, 2)).toThrow(RangeError);
  });
});
