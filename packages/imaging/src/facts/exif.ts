import {
  type Directory,
  openTiff,
  readBytes,
  readDirectory,
  readFractions,
  readNumbers,
  readSubdirectory,
  type Tag,
  type Tiff,
} from '../tiff.ts';
import { clockOf, parseOffset, parseWallTime, type WallTime, withOffset } from './dates.ts';
import { cameraName, type FoundFacts, toLocation, toRating } from './found.ts';
import { cleanLine, cleanText } from './text.ts';

const TAG = {
  description: 0x10e,
  make: 0x10f,
  model: 0x110,
  modified: 0x132,
  rating: 0x4746,
  exif: 0x8769,
  gps: 0x8825,
  original: 0x9003,
  digitized: 0x9004,
  offset: 0x9010,
  originalOffset: 0x9011,
  digitizedOffset: 0x9012,
  subsecond: 0x9290,
  originalSubsecond: 0x9291,
  digitizedSubsecond: 0x9292,
  windowsTitle: 0x9c9b,
  windowsKeywords: 0x9c9e,
};
const GPS_TAG = { latitudeSide: 1, latitude: 2, longitudeSide: 3, longitude: 4, time: 7, date: 29 };
const MAX_CAMERA = 200;

/** Texts that cameras write into the description of every picture. */
const NO_CAPTION =
  /digital ?camera|^(sony dsc|applemark|minolta.*|konica.*|samsung.*|_?exif_jpeg.*|untitled|oznor|cof|dav|hdr|mde|nor|rbt|sdr)$/i;

/**
 * Reads an EXIF block, which is a small TIFF file, or the directories of a TIFF. Returns only valid values. Libraries
 * read all tags into memory, and a hostile file can make these as large as it likes; this reader has limits. Format:
 * CIPA DC-008 (Exif 3.0), sections 4.5 and 4.6.
 */
export function readExif(bytes: Uint8Array): FoundFacts {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 6)).toString('latin1');
  const tiff = openTiff(header === 'Exif\0\0' ? bytes.subarray(6) : bytes);
  if (tiff === undefined) return {};
  const main = readDirectory(tiff, tiff.first);
  return readExifTags(
    tiff,
    main,
    readSubdirectory(tiff, main.get(TAG.exif)),
    readSubdirectory(tiff, main.get(TAG.gps)),
  );
}

/** As `readExif`, for a block whose only directory is that of GPS. */
export function readExifGps(bytes: Uint8Array): FoundFacts {
  const tiff = openTiff(bytes);
  return tiff === undefined ? {} : readExifTags(tiff, new Map(), new Map(), readDirectory(tiff, tiff.first));
}

function readExifTags(tiff: Tiff, main: Directory, exif: Directory, gps: Directory): FoundFacts {
  // Raw formats and some programs store tags of the EXIF directory in the main one.
  const text = (tag: number) => readText(tiff, exif.get(tag) ?? main.get(tag));
  const time = (tag: number, offset: number, subsecond: number) =>
    readTime(text(tag), text(offset) || text(TAG.offset) || text(TAG.originalOffset), text(subsecond));
  const caption = cleanText(readText(tiff, main.get(TAG.description)));
  return {
    original: time(TAG.original, TAG.originalOffset, TAG.originalSubsecond),
    digitized: time(TAG.digitized, TAG.digitizedOffset, TAG.digitizedSubsecond),
    modified: time(TAG.modified, TAG.offset, TAG.subsecond),
    instant: readGpsTime(tiff, gps),
    camera: cameraName(
      cleanLine(readText(tiff, main.get(TAG.make)), MAX_CAMERA),
      cleanLine(readText(tiff, main.get(TAG.model)), MAX_CAMERA),
    ),
    location: toLocation(
      readDegrees(tiff, gps.get(GPS_TAG.latitude), readText(tiff, gps.get(GPS_TAG.latitudeSide)), 'NS'),
      readDegrees(tiff, gps.get(GPS_TAG.longitude), readText(tiff, gps.get(GPS_TAG.longitudeSide)), 'EW'),
    ),
    title: cleanLine(readWindowsText(tiff, main.get(TAG.windowsTitle))),
    caption: caption && NO_CAPTION.test(caption) ? undefined : caption,
    keywords: readWindowsText(tiff, main.get(TAG.windowsKeywords)).split(';'),
    rating: toRating(readNumbers(tiff, main.get(TAG.rating), 1)[0] ?? Number.NaN),
  };
}

/** UTF-8, as most programs write it, or otherwise Latin-1. */
function readText(tiff: Tiff, tag: Tag | undefined): string {
  const bytes = Buffer.from(readBytes(tiff, tag));
  const text = bytes.toString('utf8');
  return (text.includes('\ufffd') ? bytes.toString('latin1') : text).replace(/\0.*/s, '');
}

function readWindowsText(tiff: Tiff, tag: Tag | undefined): string {
  return Buffer.from(readBytes(tiff, tag)).toString('utf16le').replace(/\0.*/s, '');
}

function readTime(text: string, zone: string, subsecond: string): WallTime | undefined {
  const time = parseWallTime(text);
  if (time === undefined) return undefined;
  const fraction = /^\d+/.exec(subsecond.trim())?.[0] ?? '0';
  const milliseconds = time.clock % 1_000 === 0 ? Number(fraction.padEnd(3, '0').slice(0, 3)) : 0;
  return withOffset(time.clock + milliseconds, time.offset ?? parseOffset(zone));
}

function readGpsTime(tiff: Tiff, gps: Directory): number | undefined {
  const date = /^(\d{4})[:-](\d\d)[:-](\d\d)$/.exec(readText(tiff, gps.get(GPS_TAG.date)).trim());
  const time = readFractions(tiff, gps.get(GPS_TAG.time), 3);
  // Without a position, receivers begin at 1970 or 1980.
  if (!date || Number(date[1]) < 1995 || time.length < 3 || !time.every(Number.isFinite)) return undefined;
  const [hour, minute, second] = time.map(Math.floor) as [number, number, number];
  return clockOf(Number(date[1]), Number(date[2]), Number(date[3]), hour, minute, Math.min(second, 59));
}

/**
 * Converts degrees, minutes and seconds to degrees, negative for the second of `sides`. Without a side, only the sign
 * of the number can tell, and positive numbers are not trusted.
 */
function readDegrees(tiff: Tiff, tag: Tag | undefined, side: string, sides: string): number | undefined {
  const parts = readFractions(tiff, tag, 3);
  const [whole] = parts;
  const letter = side.trim()[0]?.toUpperCase();
  if (whole === undefined || !Number.isFinite(whole)) return undefined;
  if (letter === undefined ? whole >= 0 : !sides.includes(letter)) return undefined;
  let degrees = Math.abs(whole);
  for (const [i, part] of parts.slice(1).entries()) {
    // 0/0 stands for an unknown part.
    if (Number.isNaN(part)) continue;
    if (!(part >= 0 && part <= 60)) return undefined;
    degrees += part / 60 ** (i + 1);
  }
  return letter === sides[1] || whole < 0 ? 0 - degrees : degrees;
}
