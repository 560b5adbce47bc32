import type { Pixels } from '@akin/imaging';
import { describe, expect, it } from '@jest/globals';
import { gray } from '../../test/noise.ts';
import { sharedNetworks } from '../analyzer/analyze-image.ts';
import { draw } from '../picture/drawing.ts';
import { ORIENTATIONS, oriented } from '../picture/orientations.ts';
import { preparePicture } from '../picture/picture.ts';
import { distance, length } from '../vectors/unit.ts';
import { copyFeaturesOf } from './features.ts';
import { HUE_DIMENSIONS } from './hue-histogram.ts';
import { combineFeatures } from './join.ts';
import { PATTERN_DIMENSIONS } from './pattern.ts';

const look = (pixels: Pixels) =>
  copyFeaturesOf(preparePicture(pixels, sharedNetworks('wasm')).contentCrops()[0] as Pixels);

const scene = draw(256, 192, (x, y) =>
  gray(127 + 60 * Math.sin(7 * x + 3 * y * y) + 60 * Math.cos(11 * y - 5 * x * y)),
);

describe('the pattern of a picture', () => {
  it('is the same for all orientations of the picture, and not for another picture', () => {
    const numbers = look(scene).pattern;
    expect(numbers.length).toBe(PATTERN_DIMENSIONS);
    for (let index = 0; index < ORIENTATIONS; index++) {
      expect(distance(look(oriented(scene, index)).pattern, numbers)).toBeLessThan(0.01 * length(numbers));
    }
    const other = draw(256, 192, (x, y) => (Math.hypot(x - 0.3, y - 0.6) < 0.2 ? '#F0F0F0' : '#404060'));
    expect(distance(look(other).pattern, numbers)).toBeGreaterThan(0.5 * length(numbers));
  });

  it('ignores plain bars around the picture', () => {
    const { width, height, data } = scene;
    const barred = { width, height: height + 80, data: new Uint8Array(3 * width * (height + 80)) };
    barred.data.set(data, 3 * width * 40);
    expect(distance(look(barred).pattern, look(scene).pattern)).toBeLessThan(0.15 * length(look(scene).pattern));
  });
});

describe('the hue histogram of a picture', () => {
  it('has length 1, does not depend on where a colour is, and differs for another colour', () => {
    const half = (first: string, second: string) => draw(64, 64, (x, y) => (x + y / 9 < 0.5 ? first : second));
    const { hues } = look(half('#C02020', '#606060'));
    expect(hues.length).toBe(HUE_DIMENSIONS);
    expect(length(hues)).toBeCloseTo(1, 6);
    const turned = look(oriented(half('#C02020', '#606060'), 5)).hues;
    expect(distance(turned, hues)).toBeLessThan(0.01);
    expect(distance(look(half('#2020C0', '#606060')).hues, hues)).toBeGreaterThan(0.5);
  });
});

describe('blank pictures', () => {
  it('are far from each other even if the network considers them similar, and equal to themselves', () => {
    const blank = (value: string) => draw(64, 64, () => value);
    const [a, b] = [blank('#FFFFFF'), blank('#FEFFFF')];
    const same = Float32Array.from({ length: 128 }, () => Math.SQRT1_2 / 8);
    const parts = { network: same, pattern: same, hues: same };
    const join = (pixels: Pixels) => combineFeatures(parts, look(pixels).contrast, pixels);
    expect(distance(join(a), join(b))).toBeGreaterThan(1.2);
    expect(join(a)).toEqual(join(blank('#FFFFFF')));
    expect(length(join(a))).toBeCloseTo(1, 6);
  });
});
