/**
 * A reader of TIFF directories, in which EXIF, camera raw files and TIFF pictures keep their tags. It reads tables and
 * single values on demand, never more than its caller asks for, and nothing outside the bytes: invalid entries are left
 * out, a directory is visited once, and the number of directories and entries is limited. Formats: TIFF 6.0 section 2,
 * BigTIFF, CIPA DC-008.
 */
export interface Tiff {
  readonly view: DataView;
  readonly littleEndian: boolean;
  /** BigTIFF, with 64-bit offsets. */
  readonly big: boolean;
  readonly first: number;
}

export type Directory = ReadonlyMap<number, Tag>;

export interface Tag {
  readonly type: number;
  readonly count: number;
  /** Offset of the value, which is inside the bytes. */
  readonly at: number;
}

const MAX_DIRECTORIES = 64;
const MAX_ENTRIES = 1_000;
const MAX_TEXT_BYTES = 4_000;
const BYTES_OF_TYPE = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];
/** Exif 3.0 stores texts as UTF-8 with a type of their own. */
const UTF8 = 129;
const SUB_DIRECTORIES = 330;

/** Undefined if the bytes are too short for a header. The magic number is not checked: raw formats have their own. */
export function openTiff(bytes: Uint8Array): Tiff | undefined {
  if (bytes.length < 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const littleEndian = bytes[0] === 0x49;
  const big = view.getUint16(2, littleEndian) === 43 && bytes.length >= 16;
  const tiff = { view, littleEndian, big };
  return { ...tiff, first: big ? Number(view.getBigUint64(8, littleEndian)) : view.getUint32(4, littleEndian) };
}

/** Reads one directory: only the table, not the values. Entries that point outside the bytes are skipped. */
export function readDirectory(tiff: Tiff, at: number): Directory {
  return readTable(tiff, at).tags;
}

/** The directories of the chain that starts at the first one, in their order. */
export function readPages(tiff: Tiff): Directory[] {
  const seen = new Set<number>();
  const pages: Directory[] = [];
  for (let at = tiff.first; at > 0 && !seen.has(at) && seen.size < MAX_DIRECTORIES; ) {
    seen.add(at);
    const { tags, next } = readTable(tiff, at);
    if (tags.size > 0) pages.push(tags);
    at = next;
  }
  return pages;
}

/** The directories of the chain, each followed by its sub-directories (tag 330). */
export function readAllDirectories(tiff: Tiff): Directory[] {
  const all: Directory[] = [];
  for (const page of readPages(tiff)) {
    all.push(page);
    for (const at of readNumbers(tiff, page.get(SUB_DIRECTORIES), 16)) {
      if (all.length < MAX_DIRECTORIES) all.push(readDirectory(tiff, at));
    }
  }
  return all;
}

function readTable(tiff: Tiff, at: number): { tags: Directory; next: number } {
  const { view, littleEndian, big } = tiff;
  const tags = new Map<number, Tag>();
  const [head, entryBytes, inline] = big ? [8, 20, 8] : [2, 12, 4];
  if (!(at + head <= view.byteLength)) return { tags, next: 0 };
  const stated = big ? Number(view.getBigUint64(at, littleEndian)) : view.getUint16(at, littleEndian);
  const entries = Math.min(stated, MAX_ENTRIES);
  const end = at + head + entries * entryBytes;
  for (let entry = at + head; entry < end && entry + entryBytes <= view.byteLength; entry += entryBytes) {
    const type = view.getUint16(entry + 2, littleEndian);
    const count = wordAt(tiff, entry + 4);
    const size = (type === UTF8 ? 1 : (BYTES_OF_TYPE[type] ?? 0)) * count;
    const value = entry + entryBytes - inline;
    const place = size <= inline ? value : wordAt(tiff, value);
    if (size > 0 && place + size <= view.byteLength) {
      tags.set(view.getUint16(entry, littleEndian), { type, count, at: place });
    }
  }
  const hasNext = stated === entries && end + inline <= view.byteLength;
  return { tags, next: hasNext ? wordAt(tiff, end) : 0 };
}

/** An offset or a count: 32 bits, in BigTIFF 64 bits. */
function wordAt({ view, littleEndian, big }: Tiff, at: number): number {
  return big ? Number(view.getBigUint64(at, littleEndian)) : view.getUint32(at, littleEndian);
}

/** The directory that a tag points to; empty if there is none. */
export function readSubdirectory(tiff: Tiff, pointer: Tag | undefined): Directory {
  const [at] = readNumbers(tiff, pointer, 1);
  return at === undefined ? new Map() : readDirectory(tiff, at);
}

/** The first integers of a tag, at most `max`; none for other types. */
export function readNumbers({ view, littleEndian }: Tiff, tag: Tag | undefined, max: number): number[] {
  if (tag === undefined) return [];
  const size = BYTES_OF_TYPE[tag.type] ?? 0;
  return Array.from({ length: Math.min(tag.count, max) }, (_, i) => {
    const at = tag.at + i * size;
    switch (tag.type) {
      case 1:
        return view.getUint8(at);
      case 3:
        return view.getUint16(at, littleEndian);
      case 4:
      case 13:
        return view.getUint32(at, littleEndian);
      case 16:
      case 18:
        return Number(view.getBigUint64(at, littleEndian));
      default:
        return Number.NaN;
    }
  }).filter((value) => Number.isSafeInteger(value));
}

/** The first fractions of a tag, signed or not, at most `max`; a fraction may be NaN or infinite. */
export function readFractions({ view, littleEndian }: Tiff, tag: Tag | undefined, max: number): number[] {
  if (tag?.type !== 5 && tag?.type !== 10) return [];
  const read = (at: number) => (tag.type === 5 ? view.getUint32(at, littleEndian) : view.getInt32(at, littleEndian));
  return Array.from({ length: Math.min(tag.count, max) }, (_, i) => read(tag.at + i * 8) / read(tag.at + i * 8 + 4));
}

/** The bytes of a text or of undefined data, at most 4,000; none for other types. */
export function readBytes({ view }: Tiff, tag: Tag | undefined): Uint8Array {
  if (tag === undefined || !(tag.type === UTF8 || BYTES_OF_TYPE[tag.type] === 1)) return new Uint8Array();
  return new Uint8Array(view.buffer, view.byteOffset + tag.at, Math.min(tag.count, MAX_TEXT_BYTES));
}
