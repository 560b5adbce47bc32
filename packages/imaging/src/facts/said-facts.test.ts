import { processorTime } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { exifBlock, jpegWith } from '../../test/exif.ts';
import { drawBlocks, toSharp } from '../../test/pictures.ts';
import { toFields } from './fields.ts';
import { type FileContext, readPictureFacts } from './picture-facts.ts';

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

describe('what programs and albums say about a picture', () => {
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
  });

  it.each(['jpeg', 'png', 'webp', 'tiff', 'avif'] as const)('reads XMP in %s', async (type) => {
    const packet = xmp('xmp:Rating="4"', '<dc:title>Lake</dc:title>');
    const picture = await toSharp(drawBlocks(1, 1)).withXmp(packet).toFormat(type).toBuffer();
    expect(await fieldsOf(picture)).toEqual({ title: 'Lake', rating: 4 });
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
});
