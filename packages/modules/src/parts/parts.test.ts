import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRandom } from '@akin/domain';
import type { Pixels } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gray, noise } from '../../test/noise.ts';
import { createPlainKernel } from '../../test/plain-kernel.ts';
import { draw } from '../picture/drawing.ts';
import { choosePoints } from './choose.ts';
import { PointDetector } from './detector.ts';
import { createKernel } from './kernel.ts';
import { KERNEL_SOURCE } from './kernel-bytes.ts';
import type { Point } from './points.ts';

const detectors = [createKernel, createPlainKernel].map((create) => new PointDetector(create));
const [detector] = detectors as [PointDetector, PointDetector];

/** Squares of several sizes. */
function squares(width: number, height: number, seed: number): Pixels {
  const random = createRandom(seed);
  const spots = Array.from({ length: 40 }, () => {
    const [x, y, r, level] = [random(), random(), 0.02 + 0.08 * random(), 255 * random()];
    return { x, y, r, level };
  });
  return draw(width, height, (x, y) =>
    gray(spots.findLast((s) => Math.max(Math.abs(x - s.x), Math.abs(y - s.y)) < s.r)?.level ?? 128),
  );
}

function mirrored({ width, height, data }: Pixels): Pixels {
  const pixel = (i: number) => (Math.floor(i / width) + 1) * width - 1 - (i % width);
  return { width, height, data: data.map((_, i) => data[3 * pixel(Math.floor(i / 3)) + (i % 3)] as number) };
}

const pointsOf = (one: PointDetector, pixels: Pixels, longSide = 200, max = 60): Point[] =>
  one.points(one.detect(pixels, longSide, 6), max);

it('has a kernel that matches its source', () => {
  const source = readFileSync(new URL('../../kernel/kernel.ts', import.meta.url));
  expect(createHash('sha256').update(source).digest('hex')).toBe(KERNEL_SOURCE);
});

describe('the points of a picture', () => {
  it('are the same by both kernels', () => {
    const sides = fc.record({ width: fc.integer({ min: 40, max: 300 }), height: fc.integer({ min: 40, max: 300 }) });
    fc.assert(
      fc.property(sides, fc.nat(99), fc.boolean(), ({ width, height }, seed, isNoise) => {
        const pixels = isNoise ? noise(width, height, seed) : squares(width, height, seed);
        const [found, plain] = detectors.map((one) => pointsOf(one, pixels));
        expect(found).toEqual(plain);
      }),
      { numRuns: 4 },
    );
  });

  it('have mirrored bits in the mirrored picture', () => {
    const pixels = squares(200, 150, 4);
    const points = pointsOf(detector, pixels, 200, 1_000);
    const others = pointsOf(detector, mirrored(pixels), 200, 1_000);
    const differences = points.flatMap(({ x, y, level, bits }) => {
      const same = others.filter((other) => other.level === level);
      const other = same.find((one) => Math.abs(one.x + x - 1) < 0.004 && Math.abs(one.y - y) < 0.004);
      if (other === undefined) return [];
      const swapped = bits.map((_, i) => bits[i ^ 2] as number);
      return [swapped.reduce((sum, word, i) => sum + ones(word ^ (other.bits[i] as number)), 0)];
    });
    expect(differences.length).toBeGreaterThan(0.7 * points.length);
    expect(differences.sort((a, b) => a - b)[differences.length >> 1]).toBeLessThan(8);
  });

  it.each([
    ['one colour', () => draw(400, 300, () => '#808080'), 0],
    ['a line', () => noise(1, 5_000), 0],
    ['a flat line', () => noise(5_000, 3), 0],
    ['one pixel', () => noise(1, 1), 0],
    ['noise', () => noise(640, 640), 800],
    [
      'a checkerboard',
      () => draw(640, 640, (x, y) => gray((Math.floor(x * 64) + Math.floor(y * 64)) % 2 ? 255 : 0)),
      800,
    ],
  ])('are few and inside, for %s', (_, picture, most) => {
    const points = pointsOf(detector, picture(), 640, 800);
    expect(points.length).toBeLessThanOrEqual(most);
    for (const { x, y, level, turn } of points) {
      expect(Math.min(x, y) >= 0 && Math.max(x, y) < 1 && level < 16 && turn < 64).toBe(true);
    }
  });
});

it('chooses the strongest points, and spreads the others', () => {
  const corners = Array.from({ length: 400 }, (_, i) => ({ level: 0, x: i % 20, y: Math.floor(i / 20), response: i }));
  const few = choosePoints(corners.slice(0, 5), [{ width: 100, height: 100 }], 10, 1.2, 2);
  expect(few).toHaveLength(5);
  const chosen = choosePoints(corners, [{ width: 100, height: 100 }], 100, 1.2, 2);
  expect(chosen).toHaveLength(100);
  // Half of the strongest 200.
  expect(Math.min(...chosen.map(({ response }) => response))).toBeGreaterThanOrEqual(200);
  const distances = chosen.flatMap((a, i) => chosen.slice(i + 1).map((b) => Math.hypot(a.x - b.x, a.y - b.y)));
  expect(Math.min(...distances)).toBeGreaterThan(1);
});

it('takes points from a picture on a page of text, if the pool is large', () => {
  const text = Array.from({ length: 300 }, (_, i) => ({ level: 0, x: i % 30, y: Math.floor(i / 30), response: 9 }));
  const picture = Array.from({ length: 100 }, (_, i) => ({ level: 0, x: 60 + (i % 30), y: 30, response: 1 }));
  const fromPicture = (pool: number) =>
    choosePoints([...text, ...picture], [{ width: 100, height: 100 }], 50, 1.2, pool).filter(({ x }) => x >= 60);
  expect(fromPicture(2)).toHaveLength(0);
  expect(fromPicture(8).length).toBeGreaterThan(5);
});

function ones(word: number): number {
  let count = 0;
  for (let left = word; left !== 0; left &= left - 1) count++;
  return count;
}
