import { AkinError } from '@akin/domain';
import { type Directory, openTiff, readAllDirectories, readDirectory, readNumbers, type Tiff } from './tiff.ts';

/**
 * Raw files of cameras. Their pixels are not decoded, because every camera has its own format: the largest JPEG inside
 * is taken, which nearly all cameras write, usually at full size.
 */

/** Formats with a signature of their own: Canon CR2, Fujifilm RAF, Olympus ORF, Panasonic RW2. `?` is any byte. */
export const RAW_SIGNATURES = ['II*\0????CR', 'FUJIFILMCCD-RAW', 'IIRO', 'IIRS', 'MMOR', 'IIU\0'];
/** The brand of Canon CR3 among ISO media files. */
export const RAW_BRAND = 'crx ';
/** File name extensions, without the dot. */
export const RAW_EXTENSIONS = 'nef nrw cr2 cr3 dng arw sr2 raf orf rw2 pef srw'.split(' ');

const TAG = {
  compression: 259,
  interpretation: 262,
  stripOffsets: 273,
  orientation: 274,
  stripBytes: 279,
  tileOffsets: 324,
  xmp: 700,
  jpegOffset: 513,
  jpegBytes: 514,
  panasonicJpeg: 46,
  dngVersion: 50_706,
};
/** Color filter array, and linear raw. */
const RAW_INTERPRETATIONS = [32_803, 34_892];
/** Of Sony, Nikon, Samsung, Kodak and Pentax. */
const RAW_COMPRESSIONS = [32_767, 34_713, 32_770, 65_000, 65_535];
const JPEG_COMPRESSIONS = [6, 7];

/** Part at the beginning of a file in which previews are searched that no directory names (ORF, RAF, CR3). */
const SEARCHED_BYTES = 4_000_000;
const MAX_CANDIDATES = 64;
const START_OF_JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** Whether a file with the signature of TIFF is a raw file (NEF, DNG, ARW, PEF, SRW), as far as its bytes are given. */
export function isRawTiff(bytes: Uint8Array): boolean {
  const tiff = openTiff(bytes);
  if (tiff === undefined) return false;
  return readAllDirectories(tiff).some((tags) => {
    const value = (tag: number) => readNumbers(tiff, tags.get(tag), 1)[0] ?? 0;
    return (
      tags.has(TAG.dngVersion) ||
      RAW_INTERPRETATIONS.includes(value(TAG.interpretation)) ||
      RAW_COMPRESSIONS.includes(value(TAG.compression))
    );
  });
}

/**
 * The largest JPEG in a raw file, with the orientation of the raw file if it has none of its own.
 * @throws AkinError unsupported-image if there is none
 */
export function rawPreview(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tiff = rawDirectory(file);
  const directories = tiff && tiff.view.byteLength === file.length ? readAllDirectories(tiff) : [];
  let best: (Candidate & Jpeg) | undefined;
  for (const candidate of [...named(tiff, directories), ...searched(file, tiff, directories)]) {
    const jpeg = readJpeg(file.subarray(candidate.start, candidate.end));
    if (jpeg && jpeg.pixels > (best?.pixels ?? 0)) best = { ...candidate, ...jpeg };
  }
  if (best === undefined) {
    throw new AkinError(
      'unsupported-image',
      'It is a raw camera file without a JPEG inside, which is what akin reads. Export it as JPEG and send that.',
    );
  }
  const preview = file.subarray(best.start, best.end);
  const main = tiff && readDirectory(tiff, tiff.first);
  const [orientation = 1] = tiff && main ? readNumbers(tiff, main.get(TAG.orientation), 1) : [];
  return best.isOriented || orientation < 2 || orientation > 8 ? preview : withOrientation(preview, orientation);
}

interface RawBlocks {
  readonly exif: readonly Uint8Array[];
  /** A block whose only directory is that of GPS. */
  readonly gps?: Uint8Array;
  readonly xmp?: Uint8Array;
}

/**
 * Finds the metadata of a raw file: the file itself is a block of EXIF, CR3 has several, and RAF has that of its JPEG.
 */
export function rawBlocks(bytes: Uint8Array): RawBlocks {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isRaf(file)) return { exif: [exifOfJpeg(file)] };
  if (!isIsoMedia(file)) {
    const tiff = openTiff(file);
    const xmp = tiff && readDirectory(tiff, tiff.first).get(TAG.xmp);
    return { exif: [file], ...(xmp && { xmp: file.subarray(xmp.at, xmp.at + xmp.count) }) };
  }
  const [main, exif, gps] = ['CMT1', 'CMT2', 'CMT4'].map((name) => canonBlock(file, name));
  return { exif: [main, exif].filter((block) => block !== undefined), ...(gps && { gps }) };
}

interface Candidate {
  readonly start: number;
  readonly end: number;
}

interface Jpeg {
  readonly pixels: number;
  /** Whether its own EXIF block states an orientation. */
  readonly isOriented: boolean;
}

/** The directories with the orientation: those of the file itself, or of a block of CR3. */
function rawDirectory(file: Buffer): Tiff | undefined {
  const block = isIsoMedia(file) ? canonBlock(file, 'CMT1') : isRaf(file) ? undefined : file;
  return block && openTiff(block);
}

/** The JPEGs that directories name. */
function* named(tiff: Tiff | undefined, directories: readonly Directory[]): Generator<Candidate> {
  for (const tags of tiff ? directories : []) {
    const numbers = (tag: number) => readNumbers(tiff as Tiff, tags.get(tag), 2);
    const [start, length] = [numbers(TAG.jpegOffset)[0], numbers(TAG.jpegBytes)[0]];
    if (start !== undefined && length !== undefined) yield { start, end: start + length };
    const [strips, lengths] = [numbers(TAG.stripOffsets), numbers(TAG.stripBytes)];
    if (JPEG_COMPRESSIONS.includes(numbers(TAG.compression)[0] ?? 0) && strips.length === 1 && lengths.length === 1) {
      yield { start: strips[0] as number, end: (strips[0] as number) + (lengths[0] as number) };
    }
    const panasonic = tags.get(TAG.panasonicJpeg);
    if (panasonic) yield { start: panasonic.at, end: panasonic.at + panasonic.count };
  }
}

/** The JPEGs near the beginning. The tiles of the raw picture may be such, too, and are not meant. */
function* searched(file: Buffer, tiff: Tiff | undefined, directories: readonly Directory[]): Generator<Candidate> {
  const tiles = new Set(
    tiff ? directories.flatMap((tags) => readNumbers(tiff, tags.get(TAG.tileOffsets), 10_000)) : [],
  );
  const head = file.subarray(0, SEARCHED_BYTES);
  let found = 0;
  for (let at = head.indexOf(START_OF_JPEG); at >= 0 && found < MAX_CANDIDATES; found++) {
    if (!tiles.has(at)) yield { start: at, end: file.length };
    at = head.indexOf(START_OF_JPEG, at + 2);
  }
}

/** The size of a JPEG that decoders read: 8 bits, not lossless, grey or with three colours. */
function readJpeg(bytes: Buffer): Jpeg | undefined {
  if (!bytes.subarray(0, 3).equals(START_OF_JPEG)) return undefined;
  let isOriented = false;
  for (let at = 2; at + 10 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const code = bytes[at + 1] as number;
    if (code === 0xc0 || code === 0xc1 || code === 0xc2) {
      const isRead = bytes[at + 4] === 8 && (bytes[at + 9] === 1 || bytes[at + 9] === 3);
      return isRead ? { pixels: bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7), isOriented } : undefined;
    }
    if (code < 0xc0 || (code >= 0xd0 && code <= 0xda) || (code >= 0xc3 && code <= 0xcf && code !== 0xc4)) {
      return undefined;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return undefined;
    if (code === 0xe1 && bytes.toString('latin1', at + 4, at + 10) === 'Exif\0\0') {
      const exif = openTiff(bytes.subarray(at + 10, at + 2 + length));
      isOriented ||= exif !== undefined && readDirectory(exif, exif.first).has(TAG.orientation);
    }
    at += 2 + length;
  }
  return undefined;
}

/** The JPEG with an EXIF block in front that contains only the orientation. */
export function withOrientation(jpeg: Uint8Array, orientation: number): Uint8Array {
  const block = Buffer.from(
    '\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0?\0\0\0\0\0\0',
    'latin1',
  );
  block[29] = orientation;
  return Buffer.concat([jpeg.subarray(0, 2), block, jpeg.subarray(2)]);
}

function isRaf(file: Buffer): boolean {
  return file.toString('latin1', 0, 15) === 'FUJIFILMCCD-RAW';
}

function isIsoMedia(file: Buffer): boolean {
  return file.toString('latin1', 4, 8) === 'ftyp';
}

/** A block of CR3, which stores each directory of EXIF as a TIFF file in a box of its own, near the beginning. */
function canonBlock(file: Buffer, name: string): Buffer | undefined {
  const at = file.subarray(0, 262_144).indexOf(name, 8, 'latin1');
  if (at < 4) return undefined;
  const size = file.readUInt32BE(at - 4);
  return file.subarray(at + 4, at - 4 + size);
}

/** The EXIF block of the first JPEG; empty if there is none. */
function exifOfJpeg(file: Buffer): Buffer {
  const at = file.subarray(0, SEARCHED_BYTES).indexOf('Exif\0\0', 0, 'latin1');
  return at < 2 ? file.subarray(0, 0) : file.subarray(at, at - 2 + file.readUInt16BE(at - 2));
}
