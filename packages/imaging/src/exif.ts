import type { Location } from '@akin/domain';
import { stripAncillaryChunks } from './png.ts';
import { configuredSharp } from './sharp.ts';
import { sniffImage } from './sniff.ts';

export interface ExifFacts {
  /** When the picture was taken. If the camera did not store its time zone, its clock is read as UTC. */
  readonly taken?: Date;
  /** Maker and model; the maker is not repeated if the model starts with it. */
  readonly camera?: string;
  readonly location?: Location;
}

/**
 * Reads when, with which camera and where a picture was taken. Returns only valid values, nothing for invalid data, and
 * never throws. EXIF is a small TIFF directory, and only six tags are needed. Libraries read all tags into memory, and
 * a hostile file can make these as large as it likes; this small reader with limits is safer. Format: CIPA DC-008 (Exif
 * 2.32), sections 4.5 and 4.6.
 */
export async function readExif(bytes: Uint8Array): Promise<ExifFacts> {
  try {
    const type = sniffImage(bytes);
    // A TIFF file is itself such a directory.
    if (type === 'tiff') return readFacts(bytes);
    const safe = type === 'png' ? stripAncillaryChunks(bytes) : bytes;
    const { exif } = await configuredSharp()(safe, { limitInputPixels: false }).metadata();
    return exif ? readFacts(exif) : {};
  } catch {
    return {};
  }
}

/** The tags of one directory by number. */
type Directory = ReadonlyMap<number, Tag>;

interface Tag {
  readonly type: number;
  readonly count: number;
  /** Offset of the value. */
  readonly at: number;
}

interface Source {
  readonly view: DataView;
  readonly littleEndian: boolean;
}

const TAG = { make: 0x10f, model: 0x110, exif: 0x8769, gps: 0x8825, taken: 0x9003, zone: 0x9011, subsecond: 0x9291 };
const GPS_TAG = { latitudeSide: 1, latitude: 2, longitudeSide: 3, longitude: 4 };
const ASCII = 2;
const RATIONAL = 5;
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

function readFacts(bytes: Uint8Array): ExifFacts {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 6)).toString('latin1');
  const body = header === 'Exif\0\0' ? bytes.subarray(6) : bytes;
  const source: Source = {
    view: new DataView(body.buffer, body.byteOffset, body.byteLength),
    littleEndian: body[0] === 0x49,
  };
  const main = readDirectory(source, source.view.getUint32(4, source.littleEndian));
  const exif = readSubdirectory(source, main.get(TAG.exif));
  const gps = readSubdirectory(source, main.get(TAG.gps));

  const camera = cameraName(readText(source, main.get(TAG.make)), readText(source, main.get(TAG.model)));
  const taken = readTaken(source, exif);
  const location = readLocation(source, gps);
  return { ...(taken && { taken }), ...(camera && { camera }), ...(location && { location }) };
}

function readSubdirectory(source: Source, pointer: Tag | undefined): Directory {
  if (pointer?.count !== 1 || BYTES_OF_TYPE[pointer.type] !== 4) return new Map();
  return readDirectory(source, source.view.getUint32(pointer.at, source.littleEndian));
}

/** Reads only the table, not the values. Entries that point outside the block are skipped. */
function readDirectory({ view, littleEndian }: Source, at: number): Directory {
  const tags = new Map<number, Tag>();
  if (at + 2 > view.byteLength) return tags;
  const entries = Math.min(view.getUint16(at, littleEndian), 1000);
  for (let entry = at + 2; entry < at + 2 + entries * 12 && entry + 12 <= view.byteLength; entry += 12) {
    const type = view.getUint16(entry + 2, littleEndian);
    const count = view.getUint32(entry + 4, littleEndian);
    const size = (BYTES_OF_TYPE[type] ?? 0) * count;
    const value = size <= 4 ? entry + 8 : view.getUint32(entry + 8, littleEndian);
    if (size > 0 && value + size <= view.byteLength) {
      tags.set(view.getUint16(entry, littleEndian), { type, count, at: value });
    }
  }
  return tags;
}

function readText({ view }: Source, tag: Tag | undefined): string {
  if (tag?.type !== ASCII) return '';
  const bytes = Buffer.from(view.buffer, view.byteOffset + tag.at, Math.min(tag.count, 200));
  const text = bytes.toString('utf8').split('\0')[0] as string;
  return text
    .replace(/[\p{Cc}\ufffd]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function cameraName(make: string, model: string): string {
  const maker = make.split(' ')[0]?.toLowerCase() ?? '';
  return model.toLowerCase().startsWith(maker) ? model || make : `${make} ${model}`.trim();
}

function readTaken(source: Source, exif: Directory): Date | undefined {
  const date = /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(readText(source, exif.get(TAG.taken)));
  if (!date) return undefined;
  const [year, month, day, hour, minute, second] = date.slice(1).map(Number) as [number, ...number[]];
  const zone = /^([+-])(\d\d):(\d\d)$/.exec(readText(source, exif.get(TAG.zone)));
  const fraction = /^\d+/.exec(readText(source, exif.get(TAG.subsecond)))?.[0] ?? '0';
  const clock = [year, month, day, hour, minute, second].map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0'));
  const text = `${clock.slice(0, 3).join('-')}T${clock.slice(3).join(':')}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  const local = new Date(`${text}Z`);
  // Date turns 30 February into a day in March: a date is valid only if formatting gives the same text. Photography
  // started in 1826.
  if (Number.isNaN(local.getTime()) || local.toISOString() !== `${text}Z` || year < 1826) return undefined;
  const minutes = zone && Number(zone[2]) <= 14 && Number(zone[3]) < 60 ? Number(zone[2]) * 60 + Number(zone[3]) : 0;
  return new Date(local.getTime() - (zone?.[1] === '-' ? -minutes : minutes) * 60_000);
}

function readLocation(source: Source, gps: Directory): Location | undefined {
  const lat = readDegrees(source, gps.get(GPS_TAG.latitude), readText(source, gps.get(GPS_TAG.latitudeSide)), 'NS', 90);
  const lon = readDegrees(
    source,
    gps.get(GPS_TAG.longitude),
    readText(source, gps.get(GPS_TAG.longitudeSide)),
    'EW',
    180,
  );
  // Devices without a GPS fix write zeros. That point is in the Atlantic, so hardly any picture is from there.
  if (lat === undefined || lon === undefined || (lat === 0 && lon === 0)) return undefined;
  return { lat, lon };
}

/**
 * Converts degrees, minutes and seconds to degrees, negative for the second of `sides`; rounded to 7 digits, about a
 * centimetre.
 */
function readDegrees(
  { view, littleEndian }: Source,
  tag: Tag | undefined,
  side: string,
  sides: string,
  max: number,
): number | undefined {
  if (tag?.type !== RATIONAL || tag.count !== 3 || side.length !== 1 || !sides.includes(side)) return undefined;
  let degrees = 0;
  for (let part = 0; part < 3; part++) {
    const above = view.getUint32(tag.at + part * 8, littleEndian);
    const below = view.getUint32(tag.at + part * 8 + 4, littleEndian);
    const value = above / below;
    if (!Number.isFinite(value) || (part > 0 && value > 60)) return undefined;
    degrees += value / 60 ** part;
  }
  if (degrees > max) return undefined;
  const rounded = Math.round(degrees * 1e7) / 1e7;
  return side === sides[1] ? 0 - rounded : rounded;
}
