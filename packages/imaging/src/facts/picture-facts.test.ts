import { processorTime } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exifBlock, jpegWith, pngWith, type Tags, type Value } from '../../test/exif.ts';
import { drawBlocks, toSharp } from '../../test/pictures.ts';
import { readPictureFacts } from './picture-facts.ts';

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

describe('readPictureFacts', () => {
  it('reads time, camera and place from JPEG, PNG and both byte orders', async () => {
    const expected = {
      taken: new Date('2024-02-29T13:14:15Z'),
      camera: 'Apple iPhone 15',
      location: { lat: 45.76, lon: 4.8333333 },
    };
    for (const bigEndian of [false, true]) {
      const block = exifBlock(CAMERA, TAKEN, LYON, bigEndian);
      expect(await readPictureFacts(await jpegWith(block))).toEqual(expected);
      expect(await readPictureFacts(await pngWith(block))).toEqual(expected);
    }
  });

  it('reads what sharp writes into JPEG, WebP, TIFF and AVIF', async () => {
    const picture = toSharp(drawBlocks(2, 2)).withExif({
      IFD0: { Make: 'Canon', Model: 'Canon EOS R5' },
      IFD2: { DateTimeOriginal: '2020:01:02 03:04:05' },
    });
    for (const type of ['jpeg', 'webp', 'avif'] as const) {
      expect(await readPictureFacts(await picture.clone().toFormat(type).toBuffer())).toEqual({
        camera: 'Canon EOS R5',
        taken: new Date('2020-01-02T03:04:05Z'),
      });
    }
  });

  it('reads a TIFF by its own directory', async () => {
    expect(await readPictureFacts(exifBlock(CAMERA, TAKEN))).toEqual({
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
    expect(await readPictureFacts(await jpegWith(exifBlock({ 271: make, 272: model })))).toEqual({ camera });
  });

  const gps = (time: string, date = '2019:05:04'): Tags => {
    const parts = time.split(':').map((part) => [Number(part), 1] as const);
    return { 7: parts, 29: date };
  };

  it.each<[what: string, main: Tags, picture: Tags, gps: Tags, taken: string | undefined, utc?: string]>([
    ['a clock without a zone', {}, { 36867: '2019:05:04 14:00:00' }, {}, '2019-05-04T14:00'],
    ['its zone', {}, { 36867: '2019:05:04 14:00:00', 36881: '+02:00' }, {}, '2019-05-04T14:00', '2019-05-04T12:00'],
    [
      'a zone of half hours',
      {},
      { 36867: '2024:02:21 10:14:00', 36881: '-05:30' },
      {},
      '2024-02-21T10:14',
      '2024-02-21T15:44',
    ],
    ['the zone Z', {}, { 36867: '2019:05:04 14:00:00', 36881: 'Z' }, {}, '2019-05-04T14:00', '2019-05-04T14:00'],
    ['an impossible zone', {}, { 36867: '2019:05:04 14:00:00', 36881: '+99:00' }, {}, '2019-05-04T14:00'],
    [
      'OffsetTime alone',
      {},
      { 36867: '2019:05:04 14:00:00', 36880: '+02:00' },
      {},
      '2019-05-04T14:00',
      '2019-05-04T12:00',
    ],
    ['a zone inside', {}, { 36867: '2019:05:04 14:00:00+01:00' }, {}, '2019-05-04T14:00', '2019-05-04T13:00'],
    [
      'the time of satellites',
      {},
      { 36867: '2019:05:04 14:00:30' },
      gps('12:00:05'),
      '2019-05-04T14:00:30',
      '2019-05-04T12:00:30',
    ],
    ['satellites that lost touch', {}, { 36867: '2019:05:04 14:00:00' }, gps('11:52:00'), '2019-05-04T14:00'],
    ['satellites alone', {}, {}, gps('12:00:05'), '2019-05-04T12:00:05', '2019-05-04T12:00:05'],
    [
      'New Year in Tokyo',
      {},
      { 36867: '2024:01:01 08:00:00', 36881: '+09:00' },
      {},
      '2024-01-01T08:00',
      '2023-12-31T23:00',
    ],
    ['only CreateDate', {}, { 36868: '2001:02:03 04:05:06' }, {}, '2001-02-03T04:05:06'],
    ['only ModifyDate', { 306: '2001:02:03 04:05:06' }, {}, {}, '2001-02-03T04:05:06'],
    ['a date in the main directory', { 36867: '2001:02:03 04:05:06' }, {}, {}, '2001-02-03T04:05:06'],
    [
      'DateTimeOriginal before others',
      { 306: '2020:01:01 00:00:00' },
      { 36867: '2019:05:04 14:00:00', 36868: '2018:01:01 00:00:00' },
      gps('01:00:00', '2018:01:01'),
      '2019-05-04T14:00',
    ],
    [
      'satellites before ModifyDate',
      { 306: '2020:01:01 00:00:00' },
      {},
      gps('01:00:00'),
      '2019-05-04T01:00',
      '2019-05-04T01:00',
    ],
    ['a fraction inside', {}, { 36867: '2015:02:01 14:42:59.123' }, {}, '2015-02-01T14:42:59.123'],
    ['fractions apart', {}, { 36867: '2015:02:01 14:42:59', 37521: '98765' }, {}, '2015-02-01T14:42:59.987'],
    ['dashes', {}, { 36867: '2012-07-01 10:00:00' }, {}, '2012-07-01T10:00'],
    ['slashes', {}, { 36867: '2012/07/01 10:00:00' }, {}, '2012-07-01T10:00'],
    ['blanks for zeros', {}, { 36867: '2004: 1: 2  3:04:05' }, {}, '2004-01-02T03:04:05'],
    ['no seconds', {}, { 36867: '2010:05:06 07:08' }, {}, '2010-05-06T07:08'],
    ['twelve hours', {}, { 36867: '2010:05:06 07:08:09 PM' }, {}, '2010-05-06T19:08:09'],
    ['ISO 8601', {}, { 36867: '2010-05-06T07:08:09+01:00' }, {}, '2010-05-06T07:08:09', '2010-05-06T06:08:09'],
    ['only a day', {}, { 36867: '2010:05:06' }, {}, '2010-05-06T00:00'],
    ['only a year', {}, { 36867: '1943:00:00 00:00:00' }, {}, '1943-01-01T00:00'],
    [
      'zeros, then CreateDate',
      {},
      { 36867: '0000:00:00 00:00:00', 36868: '2003:03:03 03:03:03' },
      {},
      '2003-03-03T03:03:03',
    ],
    ['zeros', {}, { 36867: '0000:00:00 00:00:00' }, {}, undefined],
    ['a day that does not exist', {}, { 36867: '2023:02:30 10:00:00' }, {}, undefined],
    ['a month that does not exist', {}, { 36867: '2023:13:01 10:00:00' }, {}, undefined],
    ['an hour that does not exist', {}, { 36867: '2023:01:01 25:00:00' }, {}, undefined],
    ['a time before photography', {}, { 36867: '1500:01:01 10:00:00' }, {}, undefined],
    ['words', {}, { 36867: 'yesterday' }, {}, undefined],
    ['nothing', {}, { 36867: '' }, {}, undefined],
  ])(
    'reads the clock at the place, and the moment if its zone is known: %s',
    async (_, main, picture, gps, taken, ...[utc]) => {
      const facts = await readPictureFacts(await jpegWith(exifBlock(main, picture, gps)));
      const moment = (text: string | undefined) => (text === undefined ? undefined : new Date(`${text}Z`));
      expect({ taken: facts.taken, utc: facts.instant }).toEqual({ taken: moment(taken), utc: moment(utc) });
    },
  );

  it('reads all four quarters of the globe', async () => {
    const at = async (lat: string, lon: string) =>
      (await readPictureFacts(await pngWith(exifBlock({}, {}, { ...LYON, 1: lat, 3: lon })))).location;
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
    expect(await readPictureFacts(await pngWith(exifBlock(CAMERA, {}, gps)))).toEqual({ camera: 'Apple iPhone 15' });
  });

  it('returns nothing for pictures without EXIF and for other files', async () => {
    expect(await readPictureFacts(await toSharp(drawBlocks(1, 1)).png().toBuffer())).toEqual({});
    for (const junk of [
      '',
      'text',
      '<svg/>',
      '\xff\xd8\xff',
      'II*\0',
      'II*\0\xff\xff\xff\xff',
      'MM\0*\0\0\0\x08\xff\xff',
    ]) {
      expect(await readPictureFacts(Buffer.from(junk, 'latin1'))).toEqual({});
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
          const facts = [await readPictureFacts(damaged), await readPictureFacts(await jpegWith(damaged))];
          for (const { location, taken, camera } of facts) {
            if (location) expect(Math.abs(location.lat) <= 90 && Math.abs(location.lon) <= 180).toBe(true);
            if (taken) expect(Number.isNaN(taken.getTime())).toBe(false);
            if (camera !== undefined) expect(camera).toMatch(/^\S/);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('skips values that are outside of the block', async () => {
    const block = exifBlock({ 272: 'Pixel 8', 271: 'Google Incorporated' }, TAKEN);
    const value = block.indexOf('Google Incorporated');
    const pointer = Buffer.alloc(4);
    pointer.writeUInt32LE(value);
    const entry = block.indexOf(pointer);
    block.writeUInt32LE(block.length - 5, entry);
    expect(await readPictureFacts(await jpegWith(block))).toEqual({
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
      return processorTime(async () => expect(await readPictureFacts(hostile)).toEqual({ camera: 'A'.repeat(200) }));
    };
    const once = await timeOf(1);
    expect(await timeOf(4999)).toBeLessThan(100 * Math.max(once, 2));
  });
});
