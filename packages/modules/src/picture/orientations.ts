import type { Pixels } from '@akin/imaging';

/** The number of orientations: a picture can be rotated by quarters and flipped. */
export const ORIENTATIONS = 8;

/**
 * Returns a picture in an orientation: 0 is unchanged; the lowest two bits flip it; from 4 on it is rotated by a
 * quarter.
 */
export function oriented({ width, height, data }: Pixels, orientation: number): Pixels {
  const [w, h] = orientation & 4 ? [height, width] : [width, height];
  const result = new Uint8Array(data.length);
  for (let y = 0, to = 0; y < h; y++) {
    for (let x = 0; x < w; x++, to += 3) {
      const across = orientation & 1 ? w - 1 - x : x;
      const down = orientation & 2 ? h - 1 - y : y;
      const from = 3 * (orientation & 4 ? across * width + down : down * width + across);
      result[to] = data[from] as number;
      result[to + 1] = data[from + 1] as number;
      result[to + 2] = data[from + 2] as number;
    }
  }
  return { width: w, height: h, data: result };
}
