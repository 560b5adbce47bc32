import { type Dirent, promises as fs } from 'node:fs';
import path from 'node:path';
import { looksLikePhoto, PICTURE_ENDINGS } from '@akin/imaging';

/** A file that may be a picture. */
export interface Candidate {
  /** Where it lies. */
  readonly file: string;
  /** Its id: the path below the folder that was named, with `/` on every system. */
  readonly id: string;
  /** The folder that was named, absolute. */
  readonly source: string;
}

/** Endings of what people take for pictures and must hear about: akin refuses them. */
const OTHER_ENDINGS = new Set(
  'heic heif svg svgz ico jp2 jxl psd raw cr2 cr3 nef arw dng orf rw2'.split(' ').map((ending) => `.${ending}`),
);

/** What a search for files reports besides the files that it finds. */
export interface WalkListener {
  /** A folder, absolute, below which ids count. */
  onSource(folder: string): void;
  /** What is there and cannot be read, or was named and is not there. */
  onProblem(file: string, reason: string): void;
}

/**
 * Walks a folder depth first in the order of names and yields every file that may be a picture. Hidden files and
 * folders are left out. Links to folders are followed once and last, so that a picture which is reached in two ways has
 * the id of its own place. What cannot be read is reported to the listener and skipped.
 */
export async function* walkFolder(folder: string, listener: WalkListener): AsyncGenerator<Candidate> {
  const source = path.resolve(folder);
  listener.onSource(source);
  const seen = new Set<string>();
  const folders = [source];
  const linked: string[] = [];
  for (let next = folders.pop(); next !== undefined; next = folders.pop() ?? linked.shift()) {
    try {
      const real = await fs.realpath(next);
      if (seen.has(real)) continue;
      seen.add(real);
      const entries = await fs.readdir(next, { withFileTypes: true });
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      const below: string[] = [];
      for (const entry of entries) {
        if (entry.name.startsWith('.')) continue;
        const file = path.join(next, entry.name);
        const kind = await kindOf(file, entry, listener);
        if (kind === 'folder') below.push(file);
        if (kind === 'linked folder') linked.push(file);
        if (kind === 'picture') yield { file, id: idBelow(source, file), source };
      }
      folders.push(...below.reverse());
    } catch (error) {
      listener.onProblem(next, `the folder cannot be read: ${reasonOf(error)}`);
    }
  }
}

async function kindOf(
  file: string,
  entry: Dirent,
  listener: WalkListener,
): Promise<'picture' | 'folder' | 'linked folder' | 'other'> {
  try {
    const target = entry.isSymbolicLink() ? await fs.stat(file) : entry;
    if (target.isDirectory()) return entry.isSymbolicLink() ? 'linked folder' : 'folder';
    return target.isFile() && (await mayBePicture(file)) ? 'picture' : 'other';
  } catch (error) {
    listener.onProblem(file, reasonOf(error));
    return 'other';
  }
}

/** The id of a file: its path below the folder, with `/` between the parts, Unicode composed as people type it. */
export function idBelow(folder: string, file: string): string {
  return path.relative(folder, file).split(path.sep).join('/').normalize('NFC');
}

/** By its name, or by its first bytes in spite of it. */
async function mayBePicture(file: string): Promise<boolean> {
  const ending = path.extname(file).toLowerCase();
  if (PICTURE_ENDINGS.has(ending) || OTHER_ENDINGS.has(ending)) return true;
  const handle = await fs.open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    return looksLikePhoto(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** A file error in words, without a stack. */
export function reasonOf(error: unknown): string {
  const { code, path: file } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to read it';
  // Bytes of a name that are not UTF-8 were replaced when the folder was listed, so no file has the name.
  if (code === 'ENOENT' && file?.includes('\ufffd')) return 'its name is not UTF-8: rename it';
  if (code === 'ENOENT') return 'it is not there';
  if (code === 'ELOOP') return 'its link leads in a circle';
  return error instanceof Error ? error.message : String(error);
}
