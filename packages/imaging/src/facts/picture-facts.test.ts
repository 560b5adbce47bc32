import { processorTime } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { drawBlocks, pngChunk, toSharp } from '../testing/pictures.ts';
import { toFields } from './fields.ts';
import { type FileContext, readPictureFacts } from './picture-facts.ts';

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

  const xmp = (attributes: string, elements = '') =>
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:digiKam="http://www.digikam.org/ns/1.0/" ${attributes}>${elements}</rdf:Description></rdf:RDF></x:xmpmeta>`;
  const list = (name: string, kind: string, ...items: string[]) =>
    `<${name}><rdf:${kind}>${items.map((item) => `<rdf:li>${item}</rdf:li>`).join('')}</rdf:${kind}></${name}>`;
  const fieldsOf = async (bytes: Uint8Array, context?: FileContext) => toFields(await readPictureFacts(bytes, context));
  const plain = () => toSharp(drawBlocks(1, 1)).jpeg().toBuffer();
  const iptc = (...sets: [number, string][]) => {
    const block = Buffer.concat(
      sets.map(([number, text]) => {
        const value = Buffer.from(text);
        return Buffer.concat([Buffer.from([0x1c, 2, number, value.length >> 8, value.length & 255]), value]);
      }),
    );
    const size = Buffer.alloc(4);
    size.writeUInt32BE(block.length);
    return Buffer.concat([Buffer.from('Photoshop 3.0\x008BIM\x04\x04\0\0', 'latin1'), size, block]);
  };
  const jpegWithIptc = async (...sets: [number, string][]) => {
    const [jpeg, block] = [await plain(), iptc(...sets)];
    const head = Buffer.from([0xff, 0xed, (block.length + 2) >> 8, (block.length + 2) & 255]);
    return Buffer.concat([jpeg.subarray(0, 2), head, block, jpeg.subarray(2)]);
  };

  it.each<[what: string, packet: string, fields: object]>([
    [
      'title, caption, keywords and rating',
      xmp(
        'xmp:Rating="4"',
        list('dc:title', 'Alt', 'Our &amp; lake') +
          list('dc:description', 'Alt', 'First\nsecond', 'Premier') +
          list('dc:subject', 'Bag', 'lake', ' sum\tmer ', 'lake', 'a;b'),
      ),
      { title: 'Our & lake', caption: 'First\nsecond', keywords: 'lake; sum mer; a; b', rating: 4 },
    ],
    ['elements', xmp('', '<xmp:Rating>5</xmp:Rating><dc:title>Plain</dc:title>'), { rating: 5, title: 'Plain' }],
    [
      'trees of keywords',
      xmp('', list('digiKam:TagsList', 'Seq', 'Places/Vienna', 'Anna')),
      { keywords: 'Vienna; Anna' },
    ],
    ['a rejected picture', xmp('xmp:Rating="-1"'), {}],
    ['a local time', xmp('photoshop:DateCreated="1943-06-01T12:00:00"'), { taken: '1943-06-01T12:00:00.000Z' }],
    ['a month', xmp('photoshop:DateCreated="1943-06"'), { taken: '1943-06-01T00:00:00.000Z' }],
    [
      'a time with its zone',
      xmp('xmp:CreateDate="2019-05-04T14:00:00.5+02:00"'),
      { taken: '2019-05-04T14:00:00.500Z', taken_utc: '2019-05-04T12:00:00.500Z' },
    ],
    ['a place', xmp('exif:GPSLatitude="48,12.0S" exif:GPSLongitude="16,22,12E"'), { location: '-48.2,16.37' }],
    [
      'a place in decimal numbers',
      xmp('exif:GPSLatitude="48.2" exif:GPSLongitude="-16.37"'),
      { location: '48.2,-16.37' },
    ],
    ['an impossible place', xmp('exif:GPSLatitude="148,12.0N" exif:GPSLongitude="16,22E"'), {}],
    ['what comes before damage', `${xmp('xmp:Rating="3"').slice(0, -30)}<&bad;<<`, { rating: 3 }],
    ['no entities', `<!DOCTYPE x [<!ENTITY e "boom">]>${xmp('', '<dc:title>&e;</dc:title>')}`, { title: '&e;' }],
    ['other name spaces', xmp('xmlns:other="urn:other" other:Rating="3"'), {}],
    ['no XML', 'nothing', {}],
  ])('reads XMP: %s', async (_, packet, fields) => {
    expect(await fieldsOf(await plain(), { sidecars: [{ name: 'a.xmp', bytes: Buffer.from(packet) }] })).toEqual(
      fields,
    );
    // The encoder refuses packets that are not XML.
    if (!packet.includes('<rdf:RDF') || packet.includes('&bad')) return;
    for (const type of ['jpeg', 'png', 'webp', 'tiff', 'avif'] as const) {
      const picture = await toSharp(drawBlocks(1, 1)).withXmp(packet).toFormat(type).toBuffer();
      expect([type, await fieldsOf(picture)]).toEqual([type, fields]);
    }
  });

  it.each<[what: string, sets: [number, string][], fields: object]>([
    ['a date', [[55, '19550601']], { taken: '1955-06-01T00:00:00.000Z' }],
    [
      'a time with its zone',
      [
        [55, '20190504'],
        [60, '140000+0200'],
      ],
      { taken: '2019-05-04T14:00:00.000Z', taken_utc: '2019-05-04T12:00:00.000Z' },
    ],
    ['a year', [[55, '19550000']], { taken: '1955-01-01T00:00:00.000Z' }],
    [
      'title, caption and keywords',
      [
        [5, 'Lake'],
        [120, 'In Größe'],
        [25, 'lake'],
        [25, 'summer'],
      ],
      { title: 'Lake', caption: 'In Größe', keywords: 'lake; summer' },
    ],
  ])('reads IPTC: %s', async (_, sets, fields) => {
    expect(await fieldsOf(await jpegWithIptc(...sets))).toEqual(fields);
  });

  it('reads what Windows and Google Takeout write', async () => {
    const windows = exifBlock({ 18246: 3 });
    expect(await fieldsOf(await jpegWith(windows))).toEqual({ rating: 3 });
    const takeout = (json: unknown) => [{ name: 'a.jpg.json', bytes: Buffer.from(JSON.stringify(json)) }];
    const album = {
      title: 'a.jpg',
      description: 'At the lake',
      photoTakenTime: { timestamp: '1556971200' },
      geoData: { latitude: 48.2, longitude: 16.37 },
      geoDataExif: { latitude: 0, longitude: 0 },
      people: [{ name: 'Anna' }, { nickname: 1 }, null],
    };
    const said = { caption: 'At the lake', location: '48.2,16.37', keywords: 'Anna' };
    expect(await fieldsOf(await plain(), { sidecars: takeout(album) })).toEqual({
      ...said,
      taken: '2019-05-04T12:00:00.000Z',
      taken_utc: '2019-05-04T12:00:00.000Z',
    });
    // The clock of the camera, in the zone that the album knows.
    const camera = await jpegWith(exifBlock({}, { 36867: '2019:05:04 14:00:00' }));
    expect(await fieldsOf(camera, { sidecars: takeout(album) })).toEqual({
      ...said,
      taken: '2019-05-04T14:00:00.000Z',
      taken_utc: '2019-05-04T12:00:00.000Z',
    });
    for (const other of [null, [], 'text', { photoTakenTime: { timestamp: 'x' }, geoData: [], people: {} }]) {
      expect(await fieldsOf(await plain(), { sidecars: takeout(other) })).toEqual({});
    }
  });

  it('trusts sidecars for words, the picture for its time, and the name last', async () => {
    const sidecars = [
      { name: 'a.xmp', bytes: Buffer.from(xmp('xmp:CreateDate="2001-01-01"', '<dc:title>New</dc:title>')) },
    ];
    const picture = await toSharp(drawBlocks(1, 1)).withXmp(xmp('', '<dc:title>Old</dc:title>')).jpeg().toBuffer();
    const name = 'IMG_19990101_000000.jpg';
    expect(await fieldsOf(picture, { sidecars, name })).toEqual({ title: 'New', taken: '2001-01-01T00:00:00.000Z' });
    expect(await fieldsOf(picture, { name })).toEqual({ title: 'Old', taken: '1999-01-01T00:00:00.000Z' });
    const dated = await jpegWith(exifBlock({ 306: '2005:05:05 05:05:05' }));
    expect(await fieldsOf(dated, { sidecars, name })).toEqual({ title: 'New', taken: '2005-05-05T05:05:05.000Z' });
  });

  it('bounds texts, lists and the work for hostile packets', async () => {
    const items = Array.from({ length: 20_000 }, (_, i) => `keyword ${i}`);
    const packet = (count: number) =>
      Buffer.from(
        xmp('', `${list('dc:subject', 'Bag', ...items.slice(0, count))}<dc:title>${'x'.repeat(900)}</dc:title>`),
      );
    const facts = await readPictureFacts(await plain(), { sidecars: [{ name: 'a.xmp', bytes: packet(20_000) }] });
    expect(facts.keywords).toHaveLength(200);
    expect(facts.title).toHaveLength(500);
    const deep = Buffer.from(`${xmp('').replace('</rdf:Description>', '<a>'.repeat(200_000))}`);
    const timeOf = (bytes: Buffer) =>
      processorTime(async () => void (await readPictureFacts(await plain(), { sidecars: [{ name: 'a.xmp', bytes }] })));
    const once = await timeOf(packet(2_000));
    expect(await timeOf(packet(20_000))).toBeLessThan(100 * Math.max(once, 2));
    expect(await timeOf(deep)).toBeLessThan(200 * Math.max(once, 2));
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
