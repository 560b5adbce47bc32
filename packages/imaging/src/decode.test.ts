import type { Region } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { colorAt, difference, drawBlocks, drawNoise, pngChunk, toSharp, withOrientation } from '../test/pictures.ts';
import { decodeImage, decodingBytes } from './decode.ts';
import { cropPixels, type Pixels, resizeArea } from './resize.ts';

const picture = drawBlocks(5, 3);
const decode = async (bytes: Uint8Array, minSide = 256) => decodeImage(bytes, { minSide });

describe('what decodeImage reads', () => {
  it.each(['png', 'tiff'] as const)('returns the very pixels of a lossless %s', async (type) => {
    const decoded = await decode(await toSharp(picture).toFormat(type, { quality: 100 }).toBuffer());
    expect({ type: decoded.type, width: decoded.width, height: decoded.height }).toEqual({
      type,
      width: 80,
      height: 48,
    });
    if (type === 'png') expect(difference(decoded.pixels, picture)).toEqual({ max: 0, mean: 0 });
    else expect(difference(decoded.pixels, picture).mean).toBeLessThan(2);
  });

  it('returns the very pixels of lossless WebP, and near ones of JPEG, GIF and AVIF', async () => {
    const webp = await decode(await toSharp(picture).webp({ lossless: true }).toBuffer());
    expect(difference(webp.pixels, picture).max).toBe(0);
    for (const type of ['jpeg', 'gif', 'avif'] as const) {
      const decoded = await decode(await toSharp(picture).toFormat(type).toBuffer());
      expect(decoded.type).toBe(type);
      expect(difference(decoded.pixels, picture).mean).toBeLessThan(4);
    }
  });

  it('reads progressive, full-colour and coarse JPEG alike', async () => {
    for (const options of [{ progressive: true }, { chromaSubsampling: '4:4:4' }, { quality: 20 }]) {
      const decoded = await decode(await toSharp(picture).jpeg(options).toBuffer());
      expect(difference(decoded.pixels, picture).mean).toBeLessThan(6);
    }
  });

  it.each(['jpeg', 'png', 'webp', 'tiff'] as const)(
    'turns %s upright by its EXIF orientation, 1 to 8 to the same picture',
    async (type) => {
      const options = type === 'webp' ? { lossless: true } : { quality: 100, chromaSubsampling: '4:4:4' };
      const turned: Pixels[] = [];
      for (let orientation = 1; orientation <= 8; orientation++) {
        const stored = toSharp(withOrientation(orientation, picture)).withMetadata({ orientation });
        const decoded = await decode(await stored.toFormat(type, options).toBuffer());
        expect([decoded.width, decoded.height]).toEqual([80, 48]);
        turned.push(decoded.pixels);
      }
      // Flat blocks of 16 px survive JPEG to within its rounding.
      for (const pixels of turned) expect(difference(pixels, turned[0] as Pixels).max).toBeLessThan(3);
      expect(difference(turned[0] as Pixels, picture).mean).toBeLessThan(2);
    },
  );

  it('turns a JPEG upright by its XMP if its EXIF says nothing, also beside other EXIF', async () => {
    const xmp = (orientation: number) =>
      `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="${orientation}"/></rdf:RDF></x:xmpmeta>`;
    const stored = (orientation: number, said: number) =>
      toSharp(withOrientation(orientation, picture)).withXmp(xmp(said)).jpeg({ quality: 100 });
    // Only a unit of resolution.
    const otherExif = Buffer.from(
      '\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x28\0\x03\0\0\0\x01\0\x02\0\0\0\0\0\0',
      'latin1',
    );
    const plain = await stored(6, 6).toBuffer();
    for (const bytes of [
      plain,
      Buffer.concat([plain.subarray(0, 2), otherExif, plain.subarray(2)]),
      await stored(6, 3).withMetadata({ orientation: 6 }).withXmp(xmp(3)).toBuffer(),
      await stored(1, 99).toBuffer(),
    ]) {
      const decoded = await decode(bytes);
      expect([decoded.width, decoded.height]).toEqual([80, 48]);
      expect(difference(decoded.pixels, picture).mean).toBeLessThan(6);
    }
  });

  it('flattens alpha on white, also with grey, palette and 16 bit', async () => {
    const half = await sharp({
      create: { width: 8, height: 8, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } },
    });
    const clear = sharp({ create: { width: 8, height: 8, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } });
    expect(colorAt((await decode(await half.clone().png().toBuffer())).pixels, 4, 4)).toEqual([255, 127, 127]);
    expect(colorAt((await decode(await half.clone().webp({ lossless: true }).toBuffer())).pixels, 4, 4)).toEqual([
      255, 127, 127,
    ]);
    for (const bytes of [
      await clear.clone().png().toBuffer(),
      await clear.clone().png({ palette: true }).toBuffer(),
      await clear.clone().toColourspace('rgb16').png().toBuffer(),
      await clear.clone().toColourspace('b-w').png().toBuffer(),
      await clear.clone().tiff({ compression: 'lzw' }).toBuffer(),
      await clear.clone().gif().toBuffer(),
    ]) {
      expect(colorAt((await decode(bytes)).pixels, 3, 3)).toEqual([255, 255, 255]);
    }
  });

  it('converts grey, 16 bit, one bit and CMYK to 8-bit RGB', async () => {
    const grey = sharp({ create: { width: 9, height: 9, channels: 3, background: '#808080' } });
    for (const bytes of [
      await grey.clone().toColourspace('b-w').jpeg().toBuffer(),
      await grey.clone().toColourspace('grey16').png().toBuffer(),
      await grey.clone().toColourspace('rgb16').png().toBuffer(),
      await grey.clone().toColourspace('rgb16').tiff().toBuffer(),
    ]) {
      expect(colorAt((await decode(bytes)).pixels, 4, 4)).toEqual([128, 128, 128]);
    }
    const white = await sharp({ create: { width: 9, height: 9, channels: 3, background: '#fff' } })
      .toColourspace('b-w')
      .png({ colours: 2, palette: true })
      .toBuffer();
    expect(colorAt((await decode(white)).pixels, 4, 4)).toEqual([255, 255, 255]);
    const red = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#e02020' } })
      .toColourspace('cmyk')
      .jpeg({ quality: 95 })
      .toBuffer();
    const [r, g, b] = colorAt((await decode(red)).pixels, 30, 30) as [number, number, number];
    expect(r).toBeGreaterThan(190);
    expect(Math.max(g, b)).toBeLessThan(80);
  });

  it('converts wide gamuts to sRGB in 8 and 16 bit, and does not change pictures with an sRGB profile', async () => {
    const wide = sharp({ create: { width: 16, height: 16, channels: 3, background: '#c8643c' } }).withIccProfile('p3');
    const eight = colorAt((await decode(await wide.clone().png().toBuffer())).pixels, 8, 8);
    const sixteen = colorAt((await decode(await wide.clone().toColourspace('rgb16').png().toBuffer())).pixels, 8, 8);
    for (const color of [eight, sixteen]) {
      for (const [i, expected] of [200, 100, 60].entries()) {
        expect(Math.abs((color[i] as number) - expected)).toBeLessThanOrEqual(2);
      }
    }
    const srgb = await toSharp(picture).withIccProfile('srgb').png().toBuffer();
    expect((await sharp(srgb).metadata()).icc).toBeDefined();
    expect(difference((await decode(srgb)).pixels, picture).max).toBe(0);
  });

  it('ignores a broken colour profile', async () => {
    const png = await toSharp(picture).png().toBuffer();
    const broken = Buffer.concat([
      png.subarray(0, 33),
      pngChunk('iCCP', Buffer.from('broken\0\0junk')),
      png.subarray(33),
    ]);
    expect(difference((await decode(broken)).pixels, picture).max).toBe(0);
  });

  describe('where nothing is seen on white, or in the first frame', () => {
    const SIDE = 60;
    const plain = (color: string) => sharp({ create: { width: SIDE, height: SIDE, channels: 4, background: color } });
    /** A square in the upper half. */
    const square = (ground: string, color: string) =>
      plain(ground).composite([
        { input: { create: { width: 20, height: 20, channels: 4, background: color } }, left: 10, top: 5 },
      ]);
    const CLEAR = '#00000000';
    const at = async (bytes: Uint8Array) => {
      const { pixels } = await decode(bytes);
      return [colorAt(pixels, 15, 10), colorAt(pixels, 50, 50)].map((color) => Math.round((color[0] as number) / 255));
    };

    it.each([
      ['white', '#fff', [1, 0]],
      ['pale', '#fafaf8', [1, 0]],
      ['black', '#000', [0, 1]],
      ['invisible', CLEAR, [1, 1]],
    ])('shows a square that is %s on a transparent ground', async (_, color, expected) => {
      for (const type of ['png', 'webp'] as const) {
        expect(await at(await square(CLEAR, color).toFormat(type).toBuffer())).toEqual(expected);
      }
    });

    it.each([
      ['stays white without transparent parts', '#fff', [1, 1]],
      ['stays white where it is equally transparent', '#ffffff80', [1, 1]],
    ])('a white picture %s', async (_, color, expected) => {
      expect(await at(await plain(color).png().toBuffer())).toEqual(expected);
    });

    it.each(['gif', 'webp'] as const)('takes the first frame of %s that is not blank', async (type) => {
      const animated = async (...frames: Sharp[]) => {
        const pictures = await Promise.all(frames.map((frame) => frame.png().toBuffer()));
        return sharp(pictures, { join: { animated: true } })
          .toFormat(type, { lossless: true })
          .toBuffer();
      };
      const [black, grey, one, two] = [plain('#000'), plain('#333'), square('#000', '#fff'), square('#fff', '#000')];
      expect(await at(await animated(black, grey, one, two))).toEqual([1, 0]);
      expect(await at(await animated(two, one))).toEqual([0, 1]);
      expect(await at(await animated(plain(CLEAR), square(CLEAR, '#fff'), two))).toEqual([1, 0]);
      expect(await at(await animated(black, grey))).toEqual([0, 0]);
    });

    it.each([
      [60, 255],
      [2_000, 0],
    ])('tries fewer frames of a larger animation: %i pixels wide', async (side, expected) => {
      const plainOf = (width: number, background: string) =>
        sharp({ create: { width, height: width, channels: 3, background } }).png();
      const black = await plainOf(side, '#000').toBuffer();
      const corner = await plainOf(side / 2, '#fff').toBuffer();
      const last = await sharp(black)
        .composite([{ input: corner, left: 0, top: 0 }])
        .toBuffer();
      // Equal ones would be written as one.
      const grey = await plainOf(side, '#333').toBuffer();
      const frames = [...Array(4).fill([black, grey]).flat(), last];
      const bytes = await sharp(frames, { join: { animated: true } })
        .gif({ effort: 1 })
        .toBuffer();
      expect(colorAt((await decode(bytes)).pixels, 5, 5)[0]).toBe(expected);
    });
  });

  it('decodes the first page of a TIFF', async () => {
    const pages = await Promise.all(
      ['#102030', '#ffffff'].map((background) =>
        sharp({ create: { width: 12, height: 8, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    );
    const bytes = await sharp(pages, { join: { animated: true } })
      .tiff({ compression: 'lzw' })
      .toBuffer();
    const decoded = await decode(bytes);
    expect([decoded.width, decoded.height]).toEqual([12, 8]);
    expect(colorAt(decoded.pixels, 5, 5)).toEqual([0x10, 0x20, 0x30]);
  });

  it('reads one pixel, extreme shapes and files with junk behind the end', async () => {
    for (const [width, height] of [
      [1, 1],
      [1, 3000],
      [3000, 2],
    ] as const) {
      const decoded = await decode(await toSharp(drawNoise(width, height)).jpeg().toBuffer());
      expect([decoded.pixels.width, decoded.pixels.height]).toEqual([width, height]);
    }
    const trailing = Buffer.concat([await toSharp(picture).jpeg().toBuffer(), Buffer.from('<?php junk ?>')]);
    expect((await decode(trailing)).width).toBe(80);
  });
});

describe('shrinking while decoding', () => {
  it('keeps the short side at minSide or above, by powers of two, and reports the natural size', async () => {
    const bytes = await sharp({ create: { width: 2101, height: 1400, channels: 3, background: '#888' } })
      .jpeg()
      .toBuffer();
    for (const [minSide, width, height] of [
      [701, 2101, 1400],
      [400, 2101, 1400],
      [256, 526, 350],
      [128, 263, 175],
    ] as const) {
      const decoded = await decode(bytes, minSide);
      expect([decoded.width, decoded.height]).toEqual([2101, 1400]);
      expect([decoded.pixels.width, decoded.pixels.height]).toEqual([width, height]);
    }
  });

  it('stays near the area average of the whole picture, for types that decoders shrink and one that none does', async () => {
    // Details of 2 px: a decoder that samples single pixels would be wrong by more than 10.
    const scene = resizeArea(drawNoise(600, 540, 7), 1200, 1080);
    const expected = resizeArea(scene, 64, 64);
    for (const type of ['jpeg', 'png', 'webp'] as const) {
      const { pixels } = await decode(await toSharp(scene).toFormat(type, { quality: 95 }).toBuffer());
      expect([pixels.width, pixels.height]).toEqual([300, 270]);
      expect(difference(resizeArea(pixels, 64, 64), expected).mean).toBeLessThan(2.5);
    }
  });

  it('shrinks upright', async () => {
    const scene = resizeArea(drawNoise(20, 18, 7), 1200, 1080);
    const straight = await decode(await toSharp(scene).jpeg().toBuffer());
    const turned = toSharp(withOrientation(6, scene)).withMetadata({ orientation: 6 });
    const decoded = await decode(await turned.jpeg().toBuffer());
    expect([decoded.width, decoded.height]).toEqual([1200, 1080]);
    expect(difference(decoded.pixels, straight.pixels).mean).toBeLessThan(2);
  });

  it('gives the same bytes whatever the threads and SIMD of libvips', async () => {
    const bytes = await toSharp(drawNoise(1301, 1090)).jpeg({ quality: 80 }).toBuffer();
    const first = await decode(bytes);
    try {
      sharp.concurrency(2);
      sharp.simd(false);
      expect(difference((await decode(bytes)).pixels, first.pixels).max).toBe(0);
    } finally {
      sharp.simd(true);
      sharp.concurrency(1);
    }
  });
});

describe('a region', () => {
  const decodeRegion = (bytes: Uint8Array, [x, y, width, height]: number[], minSide = 256) =>
    decodeImage(bytes, { minSide, region: { x, y, width, height } as Region });

  it('is cut from the upright picture', async () => {
    const cut = cropPixels(picture, { left: 40, top: 12, width: 20, height: 36 });
    for (const orientation of [1, 3, 6, 8]) {
      const stored = toSharp(withOrientation(orientation, picture)).withMetadata({ orientation });
      const bytes = await stored.png().toBuffer();
      const found = await decodeRegion(bytes, [0.5, 0.25, 0.25, 0.75]);
      expect(found).toMatchObject({ width: 20, height: 36 });
      expect(difference(found.pixels, cut).max).toBe(0);
    }
  });

  it('keeps its own short side at minSide or above', async () => {
    const large = await toSharp(drawBlocks(80, 60)).png().toBuffer();
    const sizeOf = async (region: number[]) => {
      const { width, height, pixels } = await decodeRegion(large, region, 60);
      return [width, height, pixels.width, pixels.height];
    };
    expect(await sizeOf([0, 0, 1, 1])).toEqual([1280, 960, 80, 60]);
    expect(await sizeOf([0.5, 0.5, 0.25, 0.25])).toEqual([320, 240, 80, 60]);
    expect(await sizeOf([0.75, 0, 0.1, 0.1])).toEqual([128, 96, 128, 96]);
    const bytes = (width: number) =>
      decodingBytes(large, { minSide: 60, region: { x: 0, y: 0, width, height: width } });
    expect(await bytes(0.1)).toBeGreaterThan((await bytes(1)) + 1280 * 960 * 2);
  });

  it('is refused below 16 pixels a side', async () => {
    const bytes = await toSharp(picture).png().toBuffer();
    expect(await decodeRegion(bytes, [0.8, 0, 0.2, 1 / 3])).toMatchObject({ width: 16, height: 16 });
    for (const region of [
      [0, 0, 0.1, 1],
      [0, 0, 1, 1e-300],
      [1 - 1e-12, 0, 1e-12, 1],
    ]) {
      await expect(decodeRegion(bytes, region)).rejects.toMatchObject({ code: 'bad-request' });
    }
  });
});
