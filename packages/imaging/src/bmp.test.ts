import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { difference, drawBlocks, drawNoise } from '../test/pictures.ts';
import { decodeImage, decodingBytes } from './decode.ts';
import type { Pixels } from './resize.ts';

interface Variant {
  readonly bits: number;
  readonly topDown?: boolean;
  /** Size of the header; 12 is that of OS/2. */
  readonly header?: 12 | 40 | 124;
  readonly masks?: readonly number[];
  readonly palette?: readonly (readonly number[])[];
  readonly compression?: number;
}

/** Writes a BMP by the layout in Microsoft's reference. @param pixelOf returns the bits of a pixel */
function bmp(
  { width, height }: { width: number; height: number },
  variant: Variant,
  pixelOf: (x: number, y: number) => number,
) {
  const { bits, topDown = false, header = 40, masks, palette = [], compression = masks ? 3 : 0 } = variant;
  const stride = Math.ceil((width * bits) / 32) * 4;
  const entry = header === 12 ? 3 : 4;
  const extra = masks && header === 40 ? 12 : 0;
  const pixelsAt = 14 + header + extra + palette.length * entry;
  const file = Buffer.alloc(pixelsAt + stride * height);
  file.write('BM', 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(pixelsAt, 10);
  file.writeUInt32LE(header, 14);
  if (header === 12) {
    for (const [i, value] of [width, height, 1, bits].entries()) file.writeUInt16LE(value, 18 + i * 2);
  } else {
    file.writeInt32LE(width, 18);
    file.writeInt32LE(topDown ? -height : height, 22);
    file.writeUInt16LE(1, 26);
    file.writeUInt16LE(bits, 28);
    file.writeUInt32LE(compression, 30);
    file.writeUInt32LE(palette.length, 46);
    for (const [i, mask] of (masks ?? []).entries()) file.writeUInt32LE(mask >>> 0, 54 + i * 4);
  }
  for (const [i, [r = 0, g = 0, b = 0]] of palette.entries()) file.set([b, g, r], 14 + header + extra + i * entry);
  for (let y = 0; y < height; y++) {
    const row = pixelsAt + (topDown ? y : height - 1 - y) * stride;
    for (let x = 0; x < width; x++) {
      const value = pixelOf(x, y) >>> 0;
      if (bits < 8) {
        const at = row + ((x * bits) >> 3);
        file[at] = (file[at] ?? 0) | (value << (8 - bits - ((x * bits) & 7)));
      } else file.writeUIntLE(value, row + x * (bits / 8), bits / 8);
    }
  }
  return file;
}

const picture = drawNoise(37, 21);
const rgb = ({ width, data }: Pixels, x: number, y: number) =>
  [0, 1, 2].map((i) => data[(y * width + x) * 3 + i] ?? 0) as [number, number, number];
const decode = async (bytes: Uint8Array, minSide = 256) => decodeImage(bytes, { minSide });

describe('a BMP is read', () => {
  it.each<[string, Variant, (r: number, g: number, b: number) => number]>([
    ['of 24 bits', { bits: 24 }, (r, g, b) => (r << 16) | (g << 8) | b],
    ['with the first row first', { bits: 24, topDown: true }, (r, g, b) => (r << 16) | (g << 8) | b],
    ['with the header of OS/2', { bits: 24, header: 12 }, (r, g, b) => (r << 16) | (g << 8) | b],
    ['of 32 bits, the last of which mean nothing', { bits: 32 }, (r, g, b) => (r << 16) | (g << 8) | b],
    ['with masks', { bits: 32, masks: [0xff000000, 0xff0000, 0xff00] }, (r, g, b) => (r << 24) | (g << 16) | (b << 8)],
  ])('%s, pixel by pixel', async (_, variant, pack) => {
    const decoded = await decode(bmp(picture, variant, (x, y) => pack(...rgb(picture, x, y))));
    expect({ type: decoded.type, width: decoded.width, height: decoded.height }).toEqual({
      type: 'bmp',
      width: 37,
      height: 21,
    });
    expect(difference(decoded.pixels, picture)).toEqual({ max: 0, mean: 0 });
  });

  it.each([1, 4, 8])('of %i bits with a palette', async (bits) => {
    const palette = Array.from({ length: 2 ** bits }, (_, i) => [(i * 37) % 256, (i * 91) % 256, 255 - i]);
    for (const header of [12, 40] as const) {
      const { pixels } = await decode(bmp(picture, { bits, palette, header }, (x, y) => (x * 5 + y * 3) % 2 ** bits));
      expect(rgb(pixels, 9, 4)).toEqual(palette[(9 * 5 + 4 * 3) % 2 ** bits]);
      expect(rgb(pixels, 36, 20)).toEqual(palette[(36 * 5 + 20 * 3) % 2 ** bits]);
    }
  });

  it('of 16 bits, five for each colour or six for green', async () => {
    const five = await decode(bmp(picture, { bits: 16 }, () => (31 << 10) | (0 << 5) | 16));
    expect(rgb(five.pixels, 3, 3)).toEqual([255, 0, 132]);
    const six = await decode(bmp(picture, { bits: 16, masks: [0xf800, 0x7e0, 0x1f] }, () => (32 << 5) | 31));
    expect(rgb(six.pixels, 3, 3)).toEqual([0, 130, 255]);
  });

  it('with alpha, on white', async () => {
    const masks = [0xff0000, 0xff00, 0xff, 0xff000000];
    const { pixels } = await decode(
      bmp(picture, { bits: 32, header: 124, masks }, (x) => (x < 10 ? 0x80000000 : 0xff204060)),
    );
    expect([rgb(pixels, 0, 0), rgb(pixels, 20, 0)]).toEqual([
      [127, 127, 127],
      [32, 64, 96],
    ]);
  });

  it('reduced if it is large, within the announced memory', async () => {
    const large = drawBlocks(80, 64);
    const file = bmp(large, { bits: 24 }, (x, y) => {
      const [r, g, b] = rgb(large, x, y);
      return (r << 16) | (g << 8) | b;
    });
    const { width, height, pixels } = await decode(file);
    expect([width, height, pixels.width, pixels.height]).toEqual([1280, 1024, 320, 256]);
    expect(await decodingBytes(file, { minSide: 256 })).toBeGreaterThan(1280 * 1024 * 3);
  });
});

describe('a BMP is refused', () => {
  const whole = bmp(picture, { bits: 24 }, () => 0);
  const refusal = async (bytes: Uint8Array) => {
    const { code, message } = await decode(bytes).catch((error) => error);
    return [code, message];
  };

  it('when its pixels are missing, its header is wrong, or it is compressed', async () => {
    expect(await refusal(whole.subarray(0, whole.length - 1))).toEqual([
      'image-undecodable',
      expect.stringContaining('ends too early'),
    ]);
    const wrong = (at: number, value: number) => {
      const bytes = Buffer.from(whole);
      bytes.writeInt32LE(value, at);
      return bytes;
    };
    expect(await refusal(wrong(30, 1))).toEqual(['image-undecodable', expect.stringContaining('is compressed')]);
    for (const bytes of [
      wrong(18, 0),
      wrong(18, -5),
      wrong(22, 0),
      wrong(28, 7),
      wrong(14, 41_000),
      whole.subarray(0, 30),
    ]) {
      expect((await refusal(bytes))[0]).toBe('image-undecodable');
    }
    expect(await refusal(wrong(22, 2 ** 31 - 1))).toEqual(['image-undecodable', expect.stringContaining('megapixels')]);
    expect((await refusal(whole.subarray(0, 20)))[0]).toBe('unsupported-image');
  });

  it('or read, for any bytes in its header', async () => {
    const bytes = fc.uint8Array({ minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom(12, 40, 108), async (noise, header) => {
        const file = Buffer.concat([whole.subarray(0, 14), noise, whole]);
        file.writeUInt32LE(header, 14);
        const error = await decode(file).catch((error) => error);
        expect(error.pixels !== undefined || error.code === 'image-undecodable').toBe(true);
      }),
      { numRuns: 30.0 },
    );
  });
});
