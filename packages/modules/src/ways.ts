import type { Pixels } from '@akin/imaging';

/** How many ways there are to turn and flip a picture. */
export const WAYS = 8;

/** A picture in one of its ways: 0 is the picture itself, the first two bits flip it, from 4 on it is turned by a quarter. */
export function inWay({ width, height, data }: Pixels, way: number): Pixels {
  const [w, h] = way & 4 ? [height, width] : [width, height];
  const result = new Uint8Array(data.length);
  for (let y = 0, to = 0; y < h; y++) {
    for (let x = 0; x < w; x++, to += 3) {
      const across = way & 1 ? w - 1 - x : x;
      const down = way & 2 ? h - 1 - y : y;
      const from = 3 * (way & 4 ? across * width + down : down * width + across);
      result[to] = data[from] as number;
      result[to + 1] = data[from + 1] as number;
      result[to + 2] = data[from + 2] as number;
    }
  }
  return { width: w, height: h, data: result };
}
