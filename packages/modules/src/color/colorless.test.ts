import { describe, expect, it } from '@jest/globals';
import { areShadesOfOne } from './colorless.ts';
import { addColor, DIMENSIONS, unitVector } from './descriptor.ts';
import { pointOf } from './oklab.ts';

/** The descriptor of stripes. */
function descriptor(...colors: readonly (readonly [number, number, number])[]): Float32Array {
  const shares = new Float64Array(DIMENSIONS);
  for (const color of colors) {
    const [lightness, a2, b2] = pointOf(...color) as unknown as [number, number, number];
    addColor(shares, lightness, a2, b2, 1, new Float64Array(DIMENSIONS));
  }
  return unitVector(shares);
}

const GREYS = descriptor([40, 40, 40], [120, 120, 120], [120, 120, 120], [220, 220, 220]);

describe('shades of one picture', () => {
  it.each<[boolean, string, Float32Array, Float32Array]>([
    [true, 'a picture and its greys', descriptor([10, 20, 110], [190, 70, 80], [60, 140, 50], [250, 220, 150]), GREYS],
    [true, 'two equal greys', GREYS, GREYS],
    [false, 'greys and darker colours', descriptor([10, 20, 110], [60, 20, 30], [10, 60, 20], [90, 70, 40]), GREYS],
    [false, 'two pictures in colour', descriptor([200, 30, 30]), descriptor([30, 120, 30])],
    [
      false,
      'an article in black and in red',
      descriptor([20, 20, 20], [255, 255, 255]),
      descriptor([200, 30, 30], [255, 255, 255]),
    ],
  ])('are %p: %s', (expected, _, a, b) => {
    expect([areShadesOfOne(a, b), areShadesOfOne(b, a)]).toEqual([expected, expected]);
  });
});
