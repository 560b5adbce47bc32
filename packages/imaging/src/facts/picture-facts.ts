import type { Location } from '@akin/domain';
import type { Metadata } from 'sharp';
import { stripAncillaryChunks, xmpOfPng } from '../png.ts';
import { rawBlocks } from '../raw.ts';
import { configuredSharp } from '../sharp.ts';
import { type ImageType, sniffImage } from '../sniff.ts';
import { instantOf, offsetBetween, type WallTime } from './dates.ts';
import { readExif, readExifGps } from './exif.ts';
import type { FoundFacts } from './found.ts';
import { readIptc } from './iptc.ts';
import { readNameDate } from './name-date.ts';
import { readSidecar, type Sidecar } from './sidecar.ts';
import { cleanKeywords } from './text.ts';
import { readXmp } from './xmp.ts';

/** What a picture file says about itself. Everything is valid, cleaned and of limited length. */
export interface PictureFacts {
  /**
   * When the picture was taken, by the clock at its place: the date reads in UTC what the clock showed there. So
   * pictures are sorted and counted by the days and months that people remember.
   */
  readonly taken?: Date;
  /** The moment when it was taken, if the zone of the clock is known. */
  readonly instant?: Date;
  /** Maker and model. */
  readonly camera?: string;
  readonly location?: Location;
  readonly title?: string;
  readonly caption?: string;
  readonly keywords?: readonly string[];
  /** 0 to 5 stars. */
  readonly rating?: number;
}

/** What is known about a file in addition to its bytes. */
export interface FileContext {
  /** A date in it is the last source. */
  readonly name?: string | undefined;
  readonly sidecars?: readonly Sidecar[] | undefined;
}

/**
 * Reads when, where and with which camera a picture was taken, and its title, caption, keywords and rating: from EXIF,
 * XMP, IPTC, sidecars and its name. The time of the file counts for nothing. Returns nothing for invalid data, and
 * never throws.
 */
export async function readPictureFacts(bytes: Uint8Array, context: FileContext = {}): Promise<PictureFacts> {
  const embedded = await readEmbedded(bytes);
  const sidecars = (context.sidecars ?? []).map((sidecar) => attempt(() => readSidecar(sidecar)));
  const nameTime = context.name === undefined ? undefined : readNameDate(context.name);
  return combine(embedded, sidecars, nameTime);
}

/** The blocks of a picture in the order in which they are trusted: EXIF, XMP, IPTC. */
async function readEmbedded(bytes: Uint8Array): Promise<FoundFacts[]> {
  let type: ImageType;
  try {
    type = sniffImage(bytes);
  } catch {
    return [];
  }
  if (type === 'raw') return readRaw(bytes);
  const safe = type === 'png' ? stripAncillaryChunks(bytes) : bytes;
  const header: Partial<Metadata> = await configuredSharp()(safe, { limitInputPixels: false })
    .metadata()
    .catch(() => ({}));
  // A TIFF file is itself an EXIF directory.
  const exif = type === 'tiff' ? bytes : header.exif;
  const xmp = type === 'png' ? xmpOfPng(bytes) : header.xmp;
  return [
    ...(exif ? [attempt(() => readExif(exif))] : []),
    ...(xmp ? [attempt(() => readXmp(xmp))] : []),
    ...(header.iptc ? [attempt(() => readIptc(header.iptc as Uint8Array))] : []),
  ];
}

function readRaw(bytes: Uint8Array): FoundFacts[] {
  const { exif, gps, xmp } = rawBlocks(bytes);
  return [
    ...exif.map((block) => attempt(() => readExif(block))),
    ...(gps ? [attempt(() => readExifGps(gps))] : []),
    ...(xmp ? [attempt(() => readXmp(xmp))] : []),
  ];
}

/** Damaged data that a reader did not expect says nothing. */
function attempt(read: () => FoundFacts): FoundFacts {
  try {
    return read();
  } catch {
    return {};
  }
}

function combine(
  embedded: readonly FoundFacts[],
  sidecars: readonly FoundFacts[],
  nameTime: WallTime | undefined,
): PictureFacts {
  const all = [...embedded, ...sidecars];
  // Programs that do not change originals write what a person says into the sidecar.
  const written = [...sidecars, ...embedded];
  const taken = takenOf(embedded, sidecars, nameTime);
  const keywords = cleanKeywords(written.flatMap((found) => found.keywords ?? []));
  return defined({
    taken: taken && new Date(taken.clock),
    instant: dateOf(taken && instantOf(taken)),
    camera: first(all, 'camera'),
    location: first(all, 'location'),
    title: first(written, 'title'),
    caption: first(written, 'caption'),
    keywords: keywords.length > 0 ? keywords : undefined,
    rating: first(written, 'rating'),
  });
}

function takenOf(
  embedded: readonly FoundFacts[],
  sidecars: readonly FoundFacts[],
  nameTime: WallTime | undefined,
): WallTime | undefined {
  const written = (found: FoundFacts) => found.original ?? found.digitized;
  // The zone of an instant alone is unknown: it is shown in UTC.
  const moment = ({ instant }: FoundFacts): WallTime | undefined =>
    instant === undefined ? undefined : { clock: instant, offset: 0 };
  const time = [
    ...embedded.map(written),
    ...embedded.map(moment),
    ...embedded.map(({ modified }) => modified),
    ...sidecars.map((found) => written(found) ?? moment(found) ?? found.modified),
    nameTime,
  ].find((one) => one !== undefined);
  if (time === undefined || time.offset !== undefined) return time;
  const offsets = [...embedded, ...sidecars].map(({ instant }) =>
    instant === undefined ? undefined : offsetBetween(time.clock, instant),
  );
  const offset = offsets.find((one) => one !== undefined);
  return offset === undefined ? time : { ...time, offset };
}

function first<Name extends keyof FoundFacts>(found: readonly FoundFacts[], name: Name): FoundFacts[Name] {
  return found.find((one) => one[name] !== undefined)?.[name];
}

function dateOf(milliseconds: number | undefined): Date | undefined {
  return milliseconds === undefined ? undefined : new Date(milliseconds);
}

function defined<Values extends object>(values: Values): { [Name in keyof Values]?: NonNullable<Values[Name]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
