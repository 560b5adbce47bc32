import { describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { drawBlocks, handmadePng, toSharp } from '../test/pictures.ts';
import { decodeImage, decodingBytes } from './decode.ts';
import { OWN_IMAGE_LIMITS } from './limits.ts';
import { stripAncillaryChunks } from './png.ts';

/** 1600 x 1600, which decodes to 400 x 400. */
const drawn = toSharp(drawBlocks(100, 100));
const PIXELS = 1600 * 1600;
/** The minimum estimate for any picture: its file and the decoded pixels. */
const least = (file: Buffer) => 4_000_000 + file.length + 400 * 400 * 3;

async function decoderBytes(file: Buffer): Promise<number> {
  const read = file[0] === 0x89 ? Buffer.from(stripAncillaryChunks(file)) : file;
  return (await decodingBytes(file, { minSide: 256 })) - least(read);
}

describe('the memory that a decoder needs', () => {
  it('includes only some rows of a picture that is reduced while it is read', async () => {
    for (const file of [
      await drawn.clone().jpeg().toBuffer(),
      await drawn.clone().toColourspace('cmyk').jpeg().toBuffer(),
      await drawn.clone().webp().toBuffer(),
    ]) {
      expect(await decoderBytes(file)).toBe(1600 * 256);
    }
  });

  it('includes all coefficients of a JPEG with several scans, depending on its chroma subsampling', async () => {
    const progressive = (chromaSubsampling: string) =>
      drawn.clone().jpeg({ progressive: true, chromaSubsampling }).toBuffer();
    expect(await decoderBytes(await progressive('4:4:4'))).toBe(PIXELS * 6 + 1600 * 256);
    expect(await decoderBytes(await progressive('4:2:0'))).toBe(PIXELS * 3 + 1600 * 256);
    // A sequential file whose first scan has only some of the components has further scans.
    const sequential = await drawn.clone().jpeg({ chromaSubsampling: '4:4:4' }).toBuffer();
    const scan = sequential.indexOf(Buffer.from([0xff, 0xda]));
    const firstOnly = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 0x3f, 0]);
    const several = Buffer.concat([sequential.subarray(0, scan), firstOnly, sequential.subarray(scan + 14)]);
    expect(await decoderBytes(several)).toBe(PIXELS * 6 + 1600 * 256);
  });

  it('includes a few rows of a PNG, and all of an interlaced one', async () => {
    const png = (bits: 8 | 16, progressive: boolean) =>
      (bits === 16 ? drawn.clone().toColourspace('rgb16') : drawn.clone()).png({ progressive }).toBuffer();
    expect(await decoderBytes(await png(8, false))).toBe(PIXELS * 3);
    expect(await decoderBytes(await png(16, false))).toBe(PIXELS * 6);
    expect(await decoderBytes(await png(8, true))).toBe(PIXELS * 6);
    expect(await decoderBytes(await png(16, true))).toBe(PIXELS * 12);
    const tall = await sharp({ create: { width: 1000, height: 8000, channels: 4, background: '#00000000' } })
      .png()
      .toBuffer();
    expect(await decodingBytes(tall, { minSide: 1000 })).toBe(
      4_000_000 + stripAncillaryChunks(tall).length + 8e6 * 3 + 2048 * 4000,
    );
  });

  it('includes the whole picture for all other formats', async () => {
    const opaque = drawn.clone();
    const clear = drawn.clone().ensureAlpha(0.5);
    expect(await decoderBytes(await clear.webp().toBuffer())).toBe(PIXELS * 5);
    expect(await decoderBytes(await opaque.clone().webp({ lossless: true }).toBuffer())).toBe(PIXELS * 5);
    expect(await decoderBytes(await opaque.clone().gif().toBuffer())).toBe(PIXELS * 6);
    expect(await decoderBytes(await opaque.clone().tiff().toBuffer())).toBe(PIXELS * 6);
    expect(await decoderBytes(await opaque.clone().avif({ effort: 0 }).toBuffer())).toBe(PIXELS * 19);
  });

  it('is not computed for files that are not pictures', async () => {
    await expect(decodingBytes(Buffer.from('%PDF-1.7'), { minSide: 256 })).rejects.toThrow('PDF');
    const cut = (await drawn.clone().jpeg({ progressive: true }).toBuffer()).subarray(0, 200);
    await expect(decodingBytes(cut, { minSide: 256 })).rejects.toMatchObject({ code: 'image-undecodable' });
  });

  it('refuses what needs more than the budget, in words for people; its size alone is no reason', async () => {
    const huge = handmadePng(9504, 6336, [], 1);
    const options = { minSide: 256, limits: OWN_IMAGE_LIMITS };
    await expect(decodingBytes(huge, { ...options, memory: 50_000_000 })).rejects.toThrow(
      /^60\.2 megapixels need \d+(\.\d)? MB to decode, and 50 MB are allowed: raise --picture-memory/,
    );
    expect(await decodingBytes(huge, options)).toBeGreaterThan(50_000_000);
    const small = await toSharp(drawBlocks(2, 2)).png().toBuffer();
    expect(await decodeImage(small, options)).toEqual(await decodeImage(small, { minSide: 256 }));
  });
});
