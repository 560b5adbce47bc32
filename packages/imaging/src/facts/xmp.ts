import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { parseWallTime, type WallTime } from './dates.ts';
import { cameraName, type FoundFacts, toLocation, toRating } from './found.ts';
import { cleanLine, cleanText } from './text.ts';

/** What is longer is read up to here. Programs that store whole pictures in XMP do so at its end. */
const MAX_BYTES = 1_000_000;
const MAX_VALUES = 1_000;
/** Metadata has some ten levels. The parser looks through all of them for each name. */
const MAX_DEPTH = 100;

const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
/** The name spaces of the properties that are read, by the prefix that the specification gives them. */
const PREFIXES: Readonly<Record<string, string>> = {
  'http://purl.org/dc/elements/1.1/': 'dc',
  'http://ns.adobe.com/xap/1.0/': 'xmp',
  'http://ns.adobe.com/photoshop/1.0/': 'photoshop',
  'http://ns.adobe.com/exif/1.0/': 'exif',
  'http://ns.adobe.com/tiff/1.0/': 'tiff',
  'http://ns.adobe.com/lightroom/1.0/': 'lr',
  'http://www.digikam.org/ns/1.0/': 'digiKam',
  'http://iptc.org/std/Iptc4xmpExt/2008-02-29/': 'Iptc4xmpExt',
};

/**
 * Reads an XMP packet, embedded or from a sidecar file. Returns only valid values, and what comes before damage. The
 * parser expands no entities and loads nothing. Format: ISO 16684-1, and Adobe's XMP specification, part 2.
 */
export function readXmp(bytes: Uint8Array): FoundFacts {
  const properties = readProperties(decodeText(bytes.subarray(0, MAX_BYTES)));
  const first = (...names: string[]) => names.map((name) => properties.get(name)?.[0]).find(Boolean);
  const time = (...names: string[]) =>
    names.map((name) => parseWallTime(properties.get(name)?.[0] ?? '')).find(Boolean);
  const people = properties.get('Iptc4xmpExt:PersonInImage') ?? [];
  return {
    original: time('exif:DateTimeOriginal', 'photoshop:DateCreated'),
    digitized: time('exif:DateTimeDigitized', 'xmp:CreateDate'),
    modified: time('xmp:ModifyDate', 'tiff:DateTime'),
    instant: instantOfUtc(time('exif:GPSTimeStamp')),
    camera: cameraName(cleanLine(first('tiff:Make'), 200), cleanLine(first('tiff:Model'), 200)),
    location: toLocation(
      readDegrees(first('exif:GPSLatitude'), first('exif:GPSLatitudeRef'), 'NS'),
      readDegrees(first('exif:GPSLongitude'), first('exif:GPSLongitudeRef'), 'EW'),
    ),
    title: cleanLine(first('dc:title', 'photoshop:Headline')),
    caption: cleanText(first('dc:description')),
    keywords: [...(properties.get('dc:subject') ?? leaves(properties)), ...people],
    rating: toRating(Number(first('xmp:Rating') ?? Number.NaN)),
  };
}

/** The orientation as in EXIF, 1 to 8; 1 if there is none. */
export function readXmpOrientation(bytes: Uint8Array): number {
  const text = decodeText(bytes.subarray(0, MAX_BYTES));
  if (!text.includes('Orientation')) return 1;
  const value = Number(readProperties(text).get('tiff:Orientation')?.[0]);
  return Number.isInteger(value) && value >= 1 && value <= 8 ? value : 1;
}

/** Programs that write trees of keywords usually write the plain keywords, too. */
function leaves(properties: ReadonlyMap<string, readonly string[]>): string[] {
  const paths = [...(properties.get('lr:hierarchicalSubject') ?? []), ...(properties.get('digiKam:TagsList') ?? [])];
  return paths.map((path) => path.split(/[|/]/).at(-1) ?? '');
}

function instantOfUtc(time: WallTime | undefined): number | undefined {
  return time && time.clock - (time.offset ?? 0) * 60_000;
}

/** Degrees as XMP writes them (`48,12.5N`, `48,12,30N`) or as decimal numbers. */
function readDegrees(text = '', side: string | undefined, sides: string): number | undefined {
  const found =
    /^\s*([+-]?\d{1,3}(?:\.\d{1,15})?)(?:,(\d{1,2}(?:\.\d{1,15})?))?(?:,(\d{1,2}(?:\.\d{1,15})?))?\s*([NSEW])?/i.exec(
      text,
    );
  if (!found) return undefined;
  const [whole, minutes, seconds] = [found[1], found[2], found[3]].map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
  ];
  const letter = (found[4] ?? side?.trim()[0])?.toUpperCase();
  if (letter !== undefined && !sides.includes(letter)) return undefined;
  if (minutes > 60 || seconds > 60) return undefined;
  const degrees = Math.abs(whole) + minutes / 60 + seconds / 3_600;
  return letter === sides[1] || whole < 0 ? 0 - degrees : degrees;
}

/** The values of each known property, by prefix and name; the items of lists, in the first language of alternatives. */
function readProperties(text: string): ReadonlyMap<string, readonly string[]> {
  const properties = new Map<string, string[]>();
  const add = (name: string, value: string) => {
    const values = properties.get(name) ?? [];
    if (value.trim() !== '' && values.length < MAX_VALUES) properties.set(name, [...values, value]);
  };
  const parser = new SaxesParser({ xmlns: true, position: false });
  /** Number of open elements, and at which of them the current description and property are. */
  let depth = 0;
  let description: number | undefined;
  let property: { name: string; depth: number; items: number } | undefined;
  let value = '';
  // Damage ends nothing: what can be read is read.
  parser.on('error', () => {});
  parser.on('text', (part) => {
    if (property !== undefined) value += part;
  });
  parser.on('cdata', (part) => {
    if (property !== undefined) value += part;
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    depth += 1;
    value = '';
    if (depth > MAX_DEPTH) throw new RangeError('too deep');
    if (property !== undefined) return;
    if (uri === RDF && local === 'Description') {
      description = depth;
      for (const attribute of Object.values(attributes) as SaxesAttributeNS[]) {
        const name = nameOf(attribute.uri, attribute.local);
        if (name !== undefined) add(name, attribute.value);
      }
    } else if (description !== undefined && depth === description + 1) {
      const name = nameOf(uri, local);
      if (name !== undefined) property = { name, depth, items: 0 };
    }
  });
  parser.on('closetag', ({ uri, local }) => {
    if (property !== undefined) {
      const isItem = uri === RDF && local === 'li' && depth === property.depth + 2;
      if (isItem || (depth === property.depth && property.items === 0)) add(property.name, value);
      if (isItem) property.items += 1;
      if (depth === property.depth) property = undefined;
    } else if (depth === description) description = undefined;
    value = '';
    depth -= 1;
  });
  try {
    parser.write(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return properties;
}

function nameOf(uri: string, local: string): string | undefined {
  const prefix = PREFIXES[uri];
  return prefix === undefined ? undefined : `${prefix}:${local}`;
}

/** UTF-8, or UTF-16 if a byte order mark says so. Packets may begin with blanks or a mark, which the parser refuses. */
function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding)
    .decode(bytes)
    .replace(/^[\s\0\ufeff]+/, '')
    .replaceAll('\0', '');
}
