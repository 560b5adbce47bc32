import { type FoundFacts, toLocation } from './found.ts';
import { cleanText } from './text.ts';
import { readXmp } from './xmp.ts';

/** A file beside a picture that describes it: XMP of a photo program, or JSON of Google Takeout. */
export interface Sidecar {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Larger sidecars are not read. */
export const MAX_SIDECAR_BYTES = 1_000_000;
/** Takeout cuts names, without the ending, to this length. */
const TAKEOUT_NAME = 46;
const TAKEOUT_SUFFIX = '.supplemental-metadata';

/**
 * The sidecars of a picture among the names of its folder: `IMG_1.xmp`, `IMG_1.jpg.xmp`, and of Google Takeout
 * `IMG_1.jpg.json`, `IMG_1.jpg.supplemental-metadata.json` (both may be cut), `IMG_1.jpg(1).json` for `IMG_1(1).jpg`,
 * and those of the original for `IMG_1-edited.jpg`.
 */
export function sidecarNames(picture: string, names: ReadonlySet<string>): string[] {
  const ending = /\.[^.]+$/.exec(picture)?.[0] ?? '';
  const stem = picture.slice(0, picture.length - ending.length);
  const xmp = [`${picture}.xmp`, `${picture}.XMP`, `${stem}.xmp`, `${stem}.XMP`].filter((name) => names.has(name));
  const takeout = takeoutNames(stem, ending).find((name) => names.has(name));
  return [...xmp.slice(0, 1), ...(takeout === undefined ? [] : [takeout])];
}

function takeoutNames(stem: string, ending: string): string[] {
  const [, base = stem, number = ''] = /^(.*?)(\(\d+\))?$/s.exec(stem.replace(/-edited(?=\(\d+\)$|$)/, '')) ?? [];
  const full = `${base}${ending}`;
  const long = `${full}${TAKEOUT_SUFFIX}`;
  // The suffix is cut to what fits, at any letter.
  const cuts = Array.from({ length: TAKEOUT_SUFFIX.length }, (_, i) => long.slice(0, long.length - i));
  const short = [full, base].map((name) => name.slice(0, TAKEOUT_NAME));
  return [...cuts, ...short].map((name) => `${name}${number}.json`);
}

/** What a sidecar says; nothing if it is damaged or something else. */
export function readSidecar({ name, bytes }: Sidecar): FoundFacts {
  if (bytes.length > MAX_SIDECAR_BYTES) return {};
  return /\.xmp$/i.test(name) ? readXmp(bytes) : readTakeout(bytes);
}

function readTakeout(bytes: Uint8Array): FoundFacts {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
  const { description, photoTakenTime, geoData, geoDataExif, people } = record(json);
  const seconds = Number(record(photoTakenTime).timestamp);
  const names = Array.isArray(people) ? people.map((person) => record(person).name) : [];
  return {
    instant: isMoment(seconds) ? seconds * 1_000 : undefined,
    location: place(geoDataExif) ?? place(geoData),
    caption: typeof description === 'string' ? cleanText(description) : undefined,
    keywords: names.filter((name) => typeof name === 'string'),
  };
}

/** Takeout writes 0 or the day of the upload if it knows nothing; 0 is left out. */
function isMoment(seconds: number): boolean {
  return Number.isSafeInteger(seconds) && seconds !== 0 && Math.abs(seconds) < 4_102_444_800;
}

function place(value: unknown) {
  const { latitude, longitude } = record(value);
  return typeof latitude === 'number' && typeof longitude === 'number' ? toLocation(latitude, longitude) : undefined;
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
