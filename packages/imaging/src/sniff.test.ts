import { gunzipSync, gzipSync } from 'node:zlib';
import { AkinError } from '@akin/domain';
import { processorTime } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { drawBlocks, toSharp } from '../test/pictures.ts';
import { looksLikePhoto, looksLikeWebPage, sniffImage } from './sniff.ts';

const latin = (text: string) => Buffer.from(text, 'latin1');

function refusal(bytes: Uint8Array): AkinError {
  try {
    sniffImage(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(AkinError);
    return error as AkinError;
  }
  throw new Error('It was taken for an image.');
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>';

describe('sniffImage', () => {
  it.each(['jpeg', 'png', 'gif', 'webp', 'avif', 'tiff'] as const)('knows %s by its bytes', async (type) => {
    expect(sniffImage(await toSharp(drawBlocks(2, 2)).toFormat(type).toBuffer())).toBe(type);
  });

  it('recognizes photos of iPhones if the package for them is installed', () => {
    expect(sniffImage(latin('\0\0\0\x18ftypheic\0\0\0\0mif1heic'))).toBe('heic');
    expect(sniffImage(latin('\0\0\0\x18ftypmif1\0\0\0\0mif1hevc'))).toBe('heic');
  });

  it('knows big-endian and 64-bit TIFF and other writings of AVIF', () => {
    expect(sniffImage(latin('MM\0*\0\0\0\x08'))).toBe('tiff');
    expect(sniffImage(latin('II+\0\x08\0\0\0'))).toBe('tiff');
    expect(sniffImage(latin('\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf'))).toBe('avif');
    expect(sniffImage(latin('\0\0\0\x18ftypavis\0\0\0\0avisavif'))).toBe('avif');
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['no bytes', new Uint8Array(), /empty/],
    ['SVG', latin(SVG), /SVG.*PNG/],
    ['SVG behind a byte order mark', Buffer.from(`\ufeff${SVG}`), /SVG/],
    ['SVG in UTF-16', Buffer.from(`\ufeff${SVG}`, 'utf16le'), /SVG/],
    ['SVG behind prolog and comment', Buffer.from(`\n<?xml version="1.0"?><!-- ü -->\n<!DOCTYPE svg>${SVG}`), /SVG/],
    ['SVG with a namespace prefix', latin('<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>'), /SVG/],
    ['gzipped SVG', gzipSync(SVG), /SVG/],
    ['another gzip file', gzipSync(Buffer.from([1, 2, 3, 0, 0, 0, 255])), /gzip/],
    ['a damaged gzip file', latin('\x1f\x8b\x08junk'), /gzip/],
    ['PDF', latin('%PDF-1.7\n%\xe2\xe3\xcf\xd3'), /PDF/],
    ['PDF behind junk', latin('junk\n%PDF-1.4'), /PDF/],
    ['MP4', latin('\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41'), /video/],
    ['QuickTime', latin('\0\0\0\x14ftypqt  \0\0\0\0qt  '), /video/],
    ['old QuickTime', latin('\0\0\0\x08wide\0\0\0\0mdat'), /video/],
    ['WebM', latin('\x1aE\xdf\xa3\x01\0\0\0'), /video/],
    ['AVI', latin('RIFF\x10\0\0\0AVI LIST'), /video/],
    ['a sound', latin('RIFF\x10\0\0\0WAVEfmt '), /sound/],
    ['a web page', latin('\n<!doctype html><title>404</title>'), /web page.*URL/],
    ['a web page with a drawing inside', latin(`<html><body>${SVG}`), /web page/],
    ['other XML', latin('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'), /XML/],
    ['JSON', latin('{"error":"not found"}'), /JSON/],
    ['text', Buffer.from('Grüße aus Köln'), /text/],
    ['a data URI', latin('data:image/png;base64,iVBOR'), /data URI/],
    ['ZIP', latin('PK\x03\x04\x14\0'), /ZIP/],
    ['ICO', latin('\0\0\x01\0\x01\0\x10\x10'), /icon/],
    ['JPEG 2000', latin('\0\0\0\x0cjP  \r\n\x87\n'), /JPEG 2000/],
    ['a JPEG 2000 stream', latin('\xff\x4f\xff\x51\0'), /JPEG 2000/],
    ['JPEG XL', latin('\0\0\0\x0cJXL \r\n\x87\n'), /JPEG XL/],
    ['a JPEG XL stream', latin('\xff\x0a\0'), /JPEG XL/],
    ['PSD', latin('8BPS\0\x01'), /Photoshop/],
    ['PostScript', latin('%!PS-Adobe-3.0'), /PostScript/],
    ['noise', Buffer.from([0x83, 0x00, 0xfe, 0x91, 0x07, 0xc1]), /type of its bytes is unknown/],
  ])('refuses %s by name', (_, bytes, message) => {
    const error = refusal(bytes);
    expect(error.code).toBe('unsupported-image');
    expect(error.message).toMatch(message);
  });

  it('answers any bytes with a type or a refusal, quickly', () => {
    const magics = ['', 'RIFF', '\x1f\x8b\x08\0', '\0\0\0\x18ftyp', '<', '{', 'PK', '\0\0', 'II', '%PDF'];
    fc.assert(
      fc.property(fc.constantFrom(...magics), fc.uint8Array({ maxLength: 300 }), (magic, rest) => {
        const bytes = Buffer.concat([latin(magic), rest]);
        try {
          sniffImage(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(AkinError);
        }
      }),
      { numRuns: 670.0 },
    );
  });

  it('unpacks only the head of a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    const all = await processorTime(() => gunzipSync(bomb));
    let least = Number.POSITIVE_INFINITY;
    // Garbage of other work may be collected in any of them.
    for (let round = 0; round < 10 && least >= all / 4; round++) {
      least = Math.min(least, await processorTime(() => expect(refusal(bomb).message).toMatch(/gzip/)));
    }
    expect(least).toBeLessThan(all / 4);
  });
});

describe('looksLikeWebPage', () => {
  it('distinguishes pages from images, even with appended data', () => {
    expect(looksLikeWebPage(latin('<!DOCTYPE html><html></html>'))).toBe(true);
    expect(looksLikeWebPage(latin('GIF89a<html><script>alert(1)</script>'))).toBe(false);
    expect(looksLikeWebPage(latin(SVG))).toBe(false);
  });
});

describe('looksLikePhoto', () => {
  it.each<[boolean, string, string]>([
    [true, 'JPEG', '\xff\xd8\xff\xe0'],
    [true, 'big-endian TIFF', 'MM\0*\0\0\0\x08'],
    [true, 'AVIF by its second brand', '\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf'],
    [true, 'an iPhone photo', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
    [true, 'a Canon raw file', 'II*\0\x10\0\0\0CR\x02\0'],
    [true, 'a newer Canon raw file', '\0\0\0\x18ftypcrx \0\0\0\x01crx isom'],
    [false, 'MP4', '\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41'],
    [false, 'PDF', '%PDF-1.7'],
    [false, 'half of a head of PNG', '\x89PNG'],
    [false, 'nothing', ''],
  ])('says %p of %s', (is, _, head) => {
    expect(looksLikePhoto(latin(head))).toBe(is);
  });
});
