import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import type { Pixels } from '../src/resize.ts';

/** A picture without symmetry, in flat blocks of 16 px that every decoder reproduces almost exactly. */
export function drawBlocks(columns: number, rows: number): Pixels {
  const width = columns * 16;
  const height = rows * 16;
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const column = x >> 4;
      const row = y >> 4;
      data.set(
        [
          40 + ((column * 37 + row * 11) % 180),
          30 + ((column * 13 + row * 53) % 200),
          50 + ((column * row * 29 + row * 7) % 170),
        ],
        (y * width + x) * 3,
      );
    }
  }
  return { width, height, data };
}

/** Random pixels, which do not compress. The same seed gives the same pixels. */
export function drawNoise(width: number, height: number, seed = 1): Pixels {
  let state = seed >>> 0;
  const data = Uint8Array.from({ length: width * height * 3 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
  return { width, height, data };
}

/** Creates a sharp object from pixels, ready to encode. */
export function toSharp({ width, height, data }: Pixels): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/**
 * What a camera stores with EXIF orientation 1 to 8 so that a viewer shows `upright`. Computed directly from the
 * definition: at which sides of the scene row 0 and column 0 of the file are.
 */
export function withOrientation(orientation: number, upright: Pixels): Pixels {
  const { width: w, height: h } = upright;
  const source: Record<number, (row: number, column: number) => [x: number, y: number]> = {
    1: (row, column) => [column, row],
    2: (row, column) => [w - 1 - column, row],
    3: (row, column) => [w - 1 - column, h - 1 - row],
    4: (row, column) => [column, h - 1 - row],
    5: (row, column) => [row, column],
    6: (row, column) => [w - 1 - row, column],
    7: (row, column) => [w - 1 - row, h - 1 - column],
    8: (row, column) => [row, h - 1 - column],
  };
  const at = source[orientation];
  if (!at) throw new RangeError(`There is no orientation ${orientation}.`);
  const [width, height] = orientation >= 5 ? [h, w] : [w, h];
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = at(row, column);
      data.set(upright.data.subarray((y * w + x) * 3, (y * w + x) * 3 + 3), (row * width + column) * 3);
    }
  }
  return { width, height, data };
}

/** One chunk of a PNG, with length and checksum. */
export function pngChunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

/** A PNG built by hand: the header may claim any size; the pixels are black, and there are only `rows` rows. */
export function handmadePng(width: number, height: number, extras: readonly Uint8Array[] = [], rows = height): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    ...extras,
    pngChunk('IDAT', deflateSync(Buffer.alloc(rows * (width * 3 + 1)))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The maximum and the mean difference of two pictures of the same size. */
export function difference(a: Pixels, b: Pixels): { max: number; mean: number } {
  if (a.width !== b.width || a.height !== b.height) {
    throw new RangeError(`${a.width}x${a.height} is not ${b.width}x${b.height}`);
  }
  let max = 0;
  let sum = 0;
  for (let i = 0; i < a.data.length; i++) {
    const d = Math.abs((a.data[i] as number) - (b.data[i] as number));
    max = Math.max(max, d);
    sum += d;
  }
  return { max, mean: sum / a.data.length };
}

/** The colour of one pixel. */
export function colorAt({ width, data }: Pixels, x: number, y: number): number[] {
  return [...data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
}
