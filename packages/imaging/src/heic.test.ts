import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { colorAt } from '../test/pictures.ts';
import { decodeImage, decodingBytes } from './decode.ts';
import { findHeicDecoder, HEIC_PACKAGE, heicToTiff } from './heic.ts';

/**
 * 96 x 64: a red quarter on blue, in Display P3. Its EXIF orientation says that it is rotated, but HEIC ignores that.
 */
const phone = () => readFile(new URL('../test/phone.heic', import.meta.url));
const decoder = findHeicDecoder() as string;

describe('HEIC', () => {
  it('is decoded upright, with the colours of its profile', async () => {
    const { type, width, height, pixels } = await decodeImage(await phone(), { minSide: 256 });
    expect({ type, width, height, side: [pixels.width, pixels.height] }).toEqual({
      type: 'heic',
      width: 96,
      height: 64,
      side: [96, 64],
    });
    for (const [x, y, color] of [
      [20, 10, [0xe0, 0x20, 0x10]],
      [80, 50, [0x20, 0x50, 0xc0]],
    ] as const) {
      for (const [i, value] of [...colorAt(pixels, x, y)].entries()) {
        expect(Math.abs(value - (color[i] ?? 0))).toBeLessThan(16);
      }
    }
    expect(await decodingBytes(await phone(), { minSide: 256 })).toBeGreaterThan(96 * 64 * 12);
  });

  it('is refused within the limits of bytes, pixels and time, and when it is damaged', async () => {
    const bytes = await phone();
    const refusal = (given: Uint8Array, limits: object) =>
      decodeImage(given, { minSide: 256, limits }).catch((error) => [error.code, error.message]);
    expect(await refusal(bytes, { bytes: 1_000 })).toEqual(['too-large', expect.any(String)]);
    expect(await refusal(bytes, { pixels: 6_000 })).toEqual([
      'image-undecodable',
      expect.stringContaining('96 x 64 pixels'),
    ]);
    expect(await refusal(bytes, { decodeMilliseconds: 0 })).toEqual([
      'image-undecodable',
      expect.stringContaining('took too long'),
    ]);
    for (const end of [40, 300, bytes.length - 100]) {
      expect(await refusal(bytes.subarray(0, end), {})).toEqual(['image-undecodable', expect.any(String)]);
    }
    await expect(heicToTiff(bytes, decoder, undefined, { pixels: 10, decodeMilliseconds: 60_000 })).rejects.toThrow(
      'more pixels',
    );
  });

  it('needs a package that is found by itself', () => {
    expect(findHeicDecoder()).toContain(HEIC_PACKAGE);
    expect(findHeicDecoder('heic-decode-that-nobody-installed')).toBeUndefined();
  });
});
