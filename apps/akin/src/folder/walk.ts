import { type Dirent, promises as fs } from 'node:fs';
import path from 'node:path';
import { looksLikePhoto, PICTURE_EXTENSIONS } from '@akin/imaging';

/** A file that may be a picture. */
export interface Candidate {
  /** Its path. */
  readonly file: string;
  /** Its id: the path relative to the folder that was named, with `/` on every system. */
  readonly id: string;
  /** The folder that was named, absolute. */
  readonly source: string;
}

/** Extensions of files that people consider pictures, so that they must be reported: akin refuses them. */
const OTHER_EXTENSIONS = new Set(
  'heic heif svg svgz ico jp2 jxl psd raw'.split(' ').map((extension) => `.${extension}`),
);

/** What a search for files reports in addition to the files that it finds. */
export interface WalkListener {
  /** A folder, absolute, to which ids are relative. */
  onSource(folder: string): void;
  /** A path that exists and cannot be read, or was named and does not exist. */
  onProblem(file: string, reason: string): void;
}

/**
 * Walks a folder depth first in the order of names and yields every file that may be a picture. Hidden files and
 * folders are skipped. Links to folders are followed once and last, so that a picture with two paths has the id of its
 * real place. Paths that cannot be read are reported to the listener and skipped.
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
        if (kind === 'picture') yield { file, id: relativeId(source, file), source };
      }
      for (const one of below.reverse()) folders.push(one);
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

/** The id of a file: its relative path, with `/` between the parts, and composed Unicode as people type it. */
export function relativeId(folder: string, file: string): string {
  return path.relative(folder, file).split(path.sep).join('/').normalize('NFC');
}

/** The paths that the file of an id may have: ids have composed letters, and some systems store decomposed ones. */
export function namesOf(id: string): Iterable<string> {
  return new Set([id, id.normalize('NFD')]);
}

/** By its extension, or otherwise by its first bytes. */
async function mayBePicture(file: string): Promise<boolean> {
  const extension = path.extname(file).toLowerCase();
  if (PICTURE_EXTENSIONS.has(extension) || OTHER_EXTENSIONS.has(extension)) return true;
  const handle = await fs.open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    return looksLikePhoto(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** The reason of a file error, without a stack. */
export function reasonOf(error: unknown): string {
  const { code, path: file } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to read it';
  // Node replaces bytes of a name that are not UTF-8 when it lists the folder, so no file has that name.
  if (code === 'ENOENT' && file?.includes('\ufffd')) return 'its name is not UTF-8: rename it';
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'ELOOP') return 'its link points to itself';
  return error instanceof Error ? error.message : String(error);
}
