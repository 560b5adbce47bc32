import { expect, test } from '@jest/globals';
import { middleOf } from './middle.ts';

/** A picture in which each pixel has its place as its colour. */
function places(width: number, height: number) {
  const data = Uint8Array.from({ length: 3 * width * height }, (_, i) => {
    const pixel = Math.floor(i / 3);
    return [pixel % width, Math.floor(pixel / width), 0][i % 3] as number;
  });
  return { width, height, data };
}

test.each([
  { of: [160, 40], is: [80, 40], first: [40, 0] },
  { of: [40, 160], is: [40, 80], first: [0, 40] },
  { of: [81, 100], is: [81, 90], first: [0, 5] },
  { of: [200, 1], is: [14, 1], first: [93, 0] },
] as const)('of a picture of $of pixels the middle has $is', ({ of: [wide, high], is, first }) => {
  const { width, height, data } = middleOf(places(wide, high));
  expect([width, height]).toEqual(is);
  expect([...data.subarray(0, 2)]).toEqual(first);
});

test('a square picture is its own middle', () => {
  const square = places(64, 64);
  expect(middleOf(square)).toBe(square);
});
