import { processorTime } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readExif } from './exif.ts';
import { drawBlocks, pngChunk, toSharp } from './testing/pictures.ts';

type Value = string | number | readonly (readonly [number, number])[];
type Tags = Readonly<Record<number, Value>>;

/** An EXIF block as a camera writes it: main directory, then the directories of the picture and of GPS. */
function exifBlock(main: Tags, picture: Tags = {}, gps: Tags = {}, bigEndian = false): Buffer {
  const parts: Buffer[] = [];
  let size = 8;
  const number = (bytes: number, value: number) => {
    const b = Buffer.alloc(bytes);
    if (bigEndian) b.writeUIntBE(value, 0, bytes);
    else b.writeUIntLE(value, 0, bytes);
    return b;
  };
  const u16 = (value: number) => number(2, value);
  const u32 = (value: number) => number(4, value);
  const append = (part: Buffer) => {
    const at = size;
    parts.push(part);
    size += part.length;
    return at;
  };
  const directory = (tags: Tags) => {
    const entries = Object.entries(tags).map(([tag, value]) => {
      if (typeof value === 'number') return Buffer.concat([u16(Number(tag)), u16(4), u32(1), u32(value)]);
      const bytes =
        typeof value === 'string' ? Buffer.from(`${value}\0`) : Buffer.concat(value.flat().map((part) => u32(part)));
      const count = typeof value === 'string' ? bytes.length : value.length;
      const place = bytes.length <= 4 ? Buffer.concat([bytes, Buffer.alloc(4)]).subarray(0, 4) : u32(append(bytes));
      return Buffer.concat([u16(Number(tag)), u16(typeof value === 'string' ? 2 : 5), u32(count), place]);
    });
    return append(Buffer.concat([u16(entries.length), ...entries, u32(0)]));
  };
  const pictureAt = directory(picture);
  const gpsAt = directory(gps);
  const mainAt = directory({ ...main, 34665: pictureAt, 34853: gpsAt });
  return Buffer.concat([Buffer.from(bigEndian ? 'MM\0*' : 'II*\0', 'latin1'), u32(mainAt), ...parts]);
}

async function pngWith(exif: Buffer): Promise<Buffer> {
  const png = await toSharp(drawBlocks(1, 1)).png().toBuffer();
  return Buffer.concat([png.subarray(0, 33), pngChunk('eXIf', exif), png.subarray(33)]);
}

async function jpegWith(exif: Buffer): Promise<Buffer> {
  const jpeg = await toSharp(drawBlocks(1, 1)).jpeg().toBuffer();
  const head = Buffer.from([0xff, 0xe1, (exif.length + 8) >> 8, (exif.length + 8) & 255]);
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from('Exif\0\0'), exif, jpeg.subarray(2)]);
}

const CAMERA: Tags = { 271: 'Apple', 272: 'iPhone 15' };
const TAKEN: Tags = { 36867: '2024:02:29 13:14:15' };
const LYON: Tags = {
  1: 'N',
  2: [
    [45, 1],
    [45, 1],
    [3600, 100],
  ],
  3: 'E',
  4: [
    [4, 1],
    [50, 1],
    [0, 1],
  ],
};

describe('readExif', () => {
  it('reads time, camera and place from JPEG, PNG and both byte orders', async () => {
    const expected = {
      taken: new Date('2024-02-29T13:14:15Z'),
      camera: 'Apple iPhone 15',
      location: { lat: 45.76, lon: 4.8333333 },
    };
    for (const bigEndian of [false, true]) {
      const block = exifBlock(CAMERA, TAKEN, LYON, bigEndian);
      expect(await readExif(await jpegWith(block))).toEqual(expected);
      expect(await readExif(await pngWith(block))).toEqual(expected);
    }
  });

  it('reads what sharp writes into JPEG, WebP, TIFF and AVIF', async () => {
    const picture = toSharp(drawBlocks(2, 2)).withExif({
      IFD0: { Make: 'Canon', Model: 'Canon EOS R5' },
      IFD2: { DateTimeOriginal: '2020:01:02 03:04:05' },
    });
    for (const type of ['jpeg', 'webp', 'avif'] as const) {
      expect(await readExif(await picture.clone().toFormat(type).toBuffer())).toEqual({
        camera: 'Canon EOS R5',
        taken: new Date('2020-01-02T03:04:05Z'),
      });
    }
  });

  it('reads a TIFF by its own directory', async () => {
    expect(await readExif(exifBlock(CAMERA, TAKEN))).toEqual({
      camera: 'Apple iPhone 15',
      taken: new Date('2024-02-29T13:14:15Z'),
    });
  });

  it.each([
    ['Canon', 'Canon EOS R5', 'Canon EOS R5'],
    ['NIKON CORPORATION', 'NIKON D850', 'NIKON D850'],
    ['SONY', 'ILCE-7M3', 'SONY ILCE-7M3'],
    ['Google ', ' Pixel  8', 'Google Pixel 8'],
    ['', 'Model only', 'Model only'],
    ['Maker only', '', 'Maker only'],
    ['Böse\u0007\u0001', 'Kamera', 'Böse Kamera'],
  ])('names the camera by %j and %j as %j', async (make, model, camera) => {
    expect(await readExif(await jpegWith(exifBlock({ 271: make, 272: model })))).toEqual({ camera });
  });

  it.each([
    ['+02:00', '2024-02-29T11:14:15.000Z'],
    ['-03:30', '2024-02-29T16:44:15.000Z'],
    ['Z', '2024-02-29T13:14:15.000Z'],
    ['+99:00', '2024-02-29T13:14:15.000Z'],
  ])('reads the camera clock in its zone %j', async (zone, taken) => {
    const block = exifBlock({}, { ...TAKEN, 36881: zone });
    expect((await readExif(await jpegWith(block))).taken?.toISOString()).toBe(taken);
  });

  it('keeps fractions of a second to the millisecond', async () => {
    const block = exifBlock({}, { ...TAKEN, 37521: '98765' });
    expect((await readExif(await jpegWith(block))).taken?.toISOString()).toBe('2024-02-29T13:14:15.987Z');
  });

  it.each([
    '0000:00:00 00:00:00',
    '2023:02:30 10:00:00',
    '2023:13:01 10:00:00',
    '2023:01:01 25:00:00',
    'yesterday',
    '',
  ])('takes %j for no date', async (text) => {
    expect(await readExif(await jpegWith(exifBlock({}, { 36867: text })))).toEqual({});
  });

  it('reads all four quarters of the globe', async () => {
    const at = async (lat: string, lon: string) =>
      (await readExif(await pngWith(exifBlock({}, {}, { ...LYON, 1: lat, 3: lon })))).location;
    expect(await at('S', 'W')).toEqual({ lat: -45.76, lon: -4.8333333 });
    expect(await at('N', 'W')).toEqual({ lat: 45.76, lon: -4.8333333 });
  });

  it.each<[string, Tags]>([
    [
      'zero denominators',
      {
        ...LYON,
        2: [
          [0, 0],
          [0, 0],
          [0, 0],
        ],
      },
    ],
    [
      'a latitude over 90',
      {
        ...LYON,
        2: [
          [91, 1],
          [0, 1],
          [0, 1],
        ],
      },
    ],
    [
      'a longitude over 180',
      {
        ...LYON,
        4: [
          [180, 1],
          [0, 1],
          [1, 1],
        ],
      },
    ],
    [
      'minutes over 60',
      {
        ...LYON,
        2: [
          [45, 1],
          [99, 1],
          [0, 1],
        ],
      },
    ],
    ['an unknown side', { ...LYON, 1: 'X' }],
    ['no side', { 2: LYON[2] as Value, 4: LYON[4] as Value }],
    ['one number only', { ...LYON, 2: [[45, 1]] }],
    ['no longitude', { 1: 'N', 2: LYON[2] as Value }],
    [
      'the zeros of a device without a fix',
      {
        1: 'N',
        2: [
          [0, 1],
          [0, 1],
          [0, 1],
        ],
        3: 'E',
        4: [
          [0, 1],
          [0, 1],
          [0, 1],
        ],
      },
    ],
  ])('leaves out a place with %s', async (_, gps) => {
    expect(await readExif(await pngWith(exifBlock(CAMERA, {}, gps)))).toEqual({ camera: 'Apple iPhone 15' });
  });

  it('returns nothing for pictures without EXIF and for other files', async () => {
    expect(await readExif(await toSharp(drawBlocks(1, 1)).png().toBuffer())).toEqual({});
    for (const junk of [
      '',
      'text',
      '<svg/>',
      '\xff\xd8\xff',
      'II*\0',
      'II*\0\xff\xff\xff\xff',
      'MM\0*\0\0\0\x08\xff\xff',
    ]) {
      expect(await readExif(Buffer.from(junk, 'latin1'))).toEqual({});
    }
  });

  it('survives any damage, quickly', async () => {
    const block = exifBlock(CAMERA, TAKEN, LYON);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(block.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 }),
        async (changes) => {
          const damaged = Buffer.from(block);
          for (const [at, value] of changes) damaged[at] = value;
          // Directly, and through the decoder, which also parses the block.
          const facts = [await readExif(damaged), await readExif(await jpegWith(damaged))];
          for (const { location, taken, camera } of facts) {
            if (location) expect(Math.abs(location.lat) <= 90 && Math.abs(location.lon) <= 180).toBe(true);
            if (taken) expect(Number.isNaN(taken.getTime())).toBe(false);
            if (camera !== undefined) expect(camera).toMatch(/^\S/);
          }
        },
      ),
      { numRuns: 100.0 },
    );
  });

  it('skips values that are outside of the block', async () => {
    const block = exifBlock({ 272: 'Pixel 8', 271: 'Google Incorporated' }, TAKEN);
    const value = block.indexOf('Google Incorporated');
    const pointer = Buffer.alloc(4);
    pointer.writeUInt32LE(value);
    const entry = block.indexOf(pointer);
    block.writeUInt32LE(block.length - 5, entry);
    expect(await readExif(await jpegWith(block))).toEqual({
      camera: 'Pixel 8',
      taken: new Date('2024-02-29T13:14:15Z'),
    });
  });

  it('does not trust the counts in a hostile directory', async () => {
    // Many entries that each point at the same text of 20 MB, and a directory that points at itself.
    const entry = Buffer.alloc(12);
    entry.writeUInt16LE(0x10f, 0);
    entry.writeUInt16LE(2, 2);
    entry.writeUInt32LE(20_000_000, 4);
    entry.writeUInt32LE(10 + 5000 * 12, 8);
    const text = Buffer.alloc(20_000_000, 65);
    const pointer = Buffer.from([0x69, 0x87, 4, 0, 1, 0, 0, 0, 8, 0, 0, 0]);
    const head = Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0]);
    const timeOf = (entries: number) => {
      const count = Buffer.alloc(2);
      count.writeUInt16LE(1 + entries, 0);
      const hostile = Buffer.concat([head, count, pointer, ...Array(4999).fill(entry), text]);
      return processorTime(async () => expect(await readExif(hostile)).toEqual({ camera: 'A'.repeat(200) }));
    };
    const once = await timeOf(1);
    expect(await timeOf(4999)).toBeLessThan(100 * Math.max(once, 2));
  });
});
