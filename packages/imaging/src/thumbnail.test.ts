import { AkinError } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { difference, drawBlocks, drawNoise, toSharp, withOrientation } from '../test/pictures.ts';
import { decodeImage } from './decode.ts';
import { resizeArea } from './resize.ts';
import { makeThumbnail, makeThumbnailFromPixels } from './thumbnail.ts';

const scene = resizeArea(drawNoise(16, 12, 3), 640, 480);

describe('makeThumbnail', () => {
  it('makes a WebP of 256 px on the long side, upright and without metadata', async () => {
    const stored = toSharp(withOrientation(6, scene)).withMetadata({
      orientation: 6,
      exif: { IFD0: { Artist: 'somebody' } },
    });
    const thumbnail = await makeThumbnail(await stored.jpeg({ quality: 95 }).toBuffer());
    const { format, width, height, exif, icc, orientation } = await sharp(thumbnail).metadata();
    expect({ format, width, height, exif, icc, orientation }).toEqual({ format: 'webp', width: 256, height: 192 });
    const shown = await decodeImage(thumbnail, { minSide: 256 });
    expect(difference(shown.pixels, resizeArea(scene, 256, 192)).mean).toBeLessThan(6);
  });

  it('does not enlarge small pictures and keeps extreme shapes at least one pixel wide', async () => {
    const size = async (bytes: Uint8Array) => {
      const { width, height } = await sharp(await makeThumbnail(bytes)).metadata();
      return [width, height];
    };
    expect(await size(await toSharp(drawBlocks(3, 2)).png().toBuffer())).toEqual([48, 32]);
    expect(await size(await toSharp(drawNoise(3000, 2)).png().toBuffer())).toEqual([256, 1]);
    expect(await size(await toSharp(drawNoise(1, 1)).png().toBuffer())).toEqual([1, 1]);
  });

  it('flattens on white', async () => {
    const clear = sharp({ create: { width: 9, height: 9, channels: 4, background: '#00000000' } });
    const { pixels } = await decodeImage(await makeThumbnail(await clear.png().toBuffer()), { minSide: 1 });
    expect(new Set(pixels.data)).toEqual(new Set([255]));
  });

  it('makes the same from pixels that are decoded already', async () => {
    const bytes = await toSharp(scene).jpeg().toBuffer();
    const { pixels } = await decodeImage(bytes, { minSide: 256 });
    expect(Buffer.compare(await makeThumbnailFromPixels(pixels), await makeThumbnail(bytes))).toBe(0);
  });

  it('refuses as decoding does', async () => {
    await expect(makeThumbnail(Buffer.from('<svg/>'))).rejects.toThrow(AkinError);
    await expect(makeThumbnail(await toSharp(scene).png().toBuffer(), { pixels: 100 })).rejects.toThrow(/limit/);
  });
});
