import { type Dirent, promises as fs } from 'node:fs';
import path from 'node:path';

/** A file that may be a picture. */
export interface Candidate {
  /** Where it lies. */
  readonly file: string;
  /** Its id: the path below the folder that was named, with `/` on every system. */
  readonly id: string;
  /** The folder that was named, absolute. */
  readonly source: string;
}

/** Endings of pictures that akin reads, and of those that people take for pictures and must hear about. */
const PICTURE_ENDINGS = new Set(
  'jpg jpeg jpe jfif png gif webp avif tif tiff heic heif bmp svg svgz ico jp2 jxl psd raw cr2 cr3 nef arw dng orf rw2'
    .split(' ')
    .map((ending) => `.${ending}`),
);

/** How a file starts that is a picture in spite of its name. */
const PICTURE_HEADS = [
  [0xff, 0xd8, 0xff],
  [0x89, 0x50, 0x4e, 0x47],
  [0x47, 0x49, 0x46, 0x38],
  [0x49, 0x49, 0x2a, 0],
  [0x4d, 0x4d, 0, 0x2a],
];

/**
 * Walks a folder depth first in the order of names and yields every file that may be a picture. Hidden files and
 * folders are left out; links to folders are followed once; what cannot be read is told to `onProblem` and passed over.
 */
export async function* walkFolder(
  folder: string,
  onProblem: (file: string, reason: string) => void,
): AsyncGenerator<Candidate> {
  const source = path.resolve(folder);
  const seen = new Set<string>([await fs.realpath(source)]);
  yield* walk(source);

  async function* walk(directory: string): AsyncGenerator<Candidate> {
    let entries: Dirent[];
    try {
      entries = await fs.readdir(directory, { withFileTypes: true });
    } catch (error) {
      onProblem(directory, `the folder cannot be read: ${reasonOf(error)}`);
      return;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.name.startsWith('.')) continue;
      const file = path.join(directory, entry.name);
      try {
        const isLink = entry.isSymbolicLink();
        const target = isLink ? await fs.stat(file) : entry;
        if (target.isDirectory()) {
          const real = await fs.realpath(file);
          if (seen.has(real)) continue;
          seen.add(real);
          yield* walk(file);
        } else if (target.isFile() && (await mayBePicture(file))) {
          yield { file, id: idBelow(source, file), source };
        }
      } catch (error) {
        onProblem(file, reasonOf(error));
      }
    }
  }
}

/** The id of a file: its path below the folder, with `/` between the parts, Unicode composed as people type it. */
export function idBelow(folder: string, file: string): string {
  return path.relative(folder, file).split(path.sep).join('/').normalize('NFC');
}

async function mayBePicture(file: string): Promise<boolean> {
  if (PICTURE_ENDINGS.has(path.extname(file).toLowerCase())) return true;
  const handle = await fs.open(file, 'r');
  try {
    const head = Buffer.alloc(12);
    await handle.read(head, 0, 12, 0);
    return (
      PICTURE_HEADS.some((bytes) => bytes.every((byte, index) => head[index] === byte)) ||
      head.toString('latin1', 8, 12) === 'WEBP' ||
      /^ftyp(avif|avis|heic|heix|mif1|msf1)$/.test(head.toString('latin1', 4, 12))
    );
  } finally {
    await handle.close();
  }
}

/** A file error in words, without a stack. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to read it';
  if (code === 'ENOENT') return 'it is gone';
  if (code === 'ELOOP') return 'its link leads in a circle';
  return error instanceof Error ? error.message : String(error);
}
