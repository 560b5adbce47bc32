import { deflateSync } from 'node:zlib';
import { AkinError } from '@akin/domain';
import { growth, LINEAR } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import sharp from 'sharp';
import { difference, drawBlocks, drawNoise, handmadePng, pngChunk, toSharp } from '../test/pictures.ts';
import { decodeImage } from './decode.ts';

const picture = drawBlocks(5, 3);
const decode = async (bytes: Uint8Array) => decodeImage(bytes, { minSide: 256 });

async function refusal(bytes: Uint8Array, limits = {}): Promise<AkinError> {
  const error = await decodeImage(bytes, { minSide: 256, limits }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(AkinError);
  return error as AkinError;
}

describe('what decodeImage refuses', () => {
  it('refuses too many bytes before looking at them', async () => {
    const error = await refusal(new Uint8Array(2000), { bytes: 1999 });
    expect(error.code).toBe('too-large');
    expect(error.message).toMatch(/2 kB/);
  });

  it('refuses too many pixels from the header alone, naming the size', async () => {
    const bombs = [handmadePng(100_000, 100_000, [], 1), handmadePng(40_000, 40_000, [], 50)];
    for (const bomb of bombs) {
      const error = await refusal(bomb);
      expect(error.code).toBe('image-undecodable');
      expect(error.message).toMatch(/(100000 x 100000|40000 x 40000) pixels.*50 megapixels/);
    }
    // Four times the side, sixteen times the pixels.
    const refuse = (side: number) => refusal(handmadePng(side, side, [], 50));
    expect(await growth(refuse, 10_000)).toBeLessThan(LINEAR);
    expect((await refusal(handmadePng(101, 100), { pixels: 10_000 })).message).toMatch(/0.01 megapixels/);
    expect((await decodeImage(handmadePng(100, 100), { minSide: 1, limits: { pixels: 10_000 } })).width).toBe(100);
  });

  it('refuses a side too long from the header alone, however few pixels there are', async () => {
    for (const [width, height] of [
      [50_000_000, 1],
      [1, 50_000_000],
      [9_999_999, 5],
      [100_001, 1],
      [1, 100_001],
    ] as const) {
      const error = await refusal(handmadePng(width, height, [], 0));
      expect(error.code).toBe('image-undecodable');
      expect(error.message).toContain(`${width} x ${height} pixels, over the limit of 100000 a side`);
    }
    expect((await decode(handmadePng(100_000, 1))).width).toBe(100_000);
    expect((await refusal(handmadePng(100, 101), { side: 100 })).message).toMatch(/limit of 100 a side/);
  });

  it('refuses too many frames', async () => {
    const frame = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#f00' } })
      .png()
      .toBuffer();
    const other = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#0f0' } })
      .png()
      .toBuffer();
    const bytes = await sharp([frame, other, frame], { join: { animated: true } })
      .gif()
      .toBuffer();
    const error = await refusal(bytes, { frames: 2 });
    expect(error.code).toBe('image-undecodable');
    expect(error.message).toMatch(/more than 2 frames, which is the limit/);
  });

  it('refuses truncated files of every type, wherever they are cut', async () => {
    for (const type of ['jpeg', 'png', 'gif', 'webp', 'avif', 'tiff'] as const) {
      const bytes = await toSharp(drawNoise(120, 90)).toFormat(type).toBuffer();
      for (const share of [0.1, 0.5, 0.9]) {
        const error = await refusal(bytes.subarray(0, Math.floor(bytes.length * share)));
        expect(error.code).toBe('image-undecodable');
        expect(error.message).toMatch(/ends too early|cannot be decoded/);
      }
    }
  });

  it('refuses a JPEG with a gap even when it was closed properly, but not one that lacks only its end marker', async () => {
    for (const progressive of [false, true]) {
      const bytes = await toSharp(drawNoise(120, 90)).jpeg({ progressive }).toBuffer();
      const end = bytes.subarray(-2);
      const half = Buffer.concat([bytes.subarray(0, bytes.length >> 1), end]);
      expect((await refusal(half)).message).toMatch(/ends too early/);
      const unclosed = await decode(bytes.subarray(0, -2));
      expect(difference(unclosed.pixels, (await decode(bytes)).pixels).max).toBe(0);
    }
  });

  it('lets harmless damage pass: stray bytes between the segments of a JPEG', async () => {
    const bytes = await toSharp(picture).jpeg().toBuffer();
    const at = bytes.indexOf(Buffer.from([0xff, 0xc0]));
    const stray = Buffer.concat([bytes.subarray(0, at), Buffer.from([7, 7, 7]), bytes.subarray(at)]);
    await expect(sharp(stray, { failOn: 'warning' }).raw().toBuffer()).rejects.toThrow(/extraneous/);
    expect(difference((await decode(stray)).pixels, (await decode(bytes)).pixels).max).toBe(0);
  });

  it('refuses heads without a picture and polyglots', async () => {
    for (const text of [
      '\xff\xd8\xff\xe0\0\x10JFIF\0',
      '\x89PNG\r\n\x1a\n',
      'GIF89a/*<script>*/=1;alert(1)//',
      'GIF89a<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>',
      'RIFF\xff\xff\xff\x7fWEBPVP8 ',
      '\0\0\0\x1cftypavif\0\0\0\0mif1avifmiaf',
      'II*\0\x08\0\0\0\0\0',
    ]) {
      expect((await refusal(Buffer.from(text, 'latin1'))).code).toBe('image-undecodable');
    }
  });

  it('does not open loaders for other types, even for sharp used directly in the same process', async () => {
    await decode(await toSharp(picture).png().toBuffer());
    await expect(sharp(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')).metadata()).rejects.toThrow(
      /unsupported/,
    );
  });

  it('does not unpack compressed texts in a PNG', async () => {
    const text = deflateSync(Buffer.alloc(7_000_000, 'a'));
    const bomb = pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), text]));
    const before = process.resourceUsage().maxRSS;
    const decoded = await decode(handmadePng(10, 10, Array(60).fill(bomb)));
    expect(decoded.width).toBe(10);
    // 60 texts of 7 MB would take at least 420 MB.
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(200_000);
  });

  it('is not held up by a PNG of a million empty extras', async () => {
    const chunk = pngChunk('junk', Buffer.alloc(0));
    const decodeOne = async (count: number) => {
      const extras = Buffer.alloc(count * chunk.length, chunk);
      expect((await decode(handmadePng(10, 10, [extras]))).width).toBe(10);
    };
    expect(await growth(decodeOne, 250_000)).toBeLessThan(LINEAR);
  });

  it('answers damaged files of every type with pixels or a refusal, never with another error', async () => {
    const files: Buffer[] = [];
    for (const type of ['jpeg', 'png', 'gif', 'webp', 'avif', 'tiff'] as const) {
      files.push(await toSharp(drawNoise(40, 30)).toFormat(type).toBuffer());
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 }),
        async (file, changes) => {
          const damaged = Buffer.from(file);
          for (const [at, value] of changes) damaged[at % damaged.length] = value;
          const result = await decode(damaged).catch((error: unknown) => error);
          if (result instanceof Error) expect(result).toBeInstanceOf(AkinError);
        },
      ),
      { numRuns: 130.0 },
    );
  });

  it('says nothing internal in its messages', async () => {
    const bytes = await toSharp(drawNoise(90, 90)).jpeg().toBuffer();
    const { message } = await refusal(bytes.subarray(0, 400));
    expect(message).not.toMatch(/vips|libjpeg|node_modules|sharp/i);
  });
});
