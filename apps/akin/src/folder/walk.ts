import { type BigIntStats, type Dirent, promises as fs } from 'node:fs';
import path from 'node:path';
import { looksLikePhoto, PICTURE_EXTENSIONS } from '@akin/imaging';
import { Exclusions } from './exclusions.ts';
import type { FoundFile } from './file-match.ts';
import { Sidecars } from './sidecars.ts';

export interface Candidate extends FoundFile {
  readonly file: string;
  /** The folder that was named, absolute. */
  readonly source: string;
  /** Its path relative to the source, with `/` on every system. */
  readonly path: string;
  /** The state of its sidecars, as of {@link Sidecars.stateOf}. */
  readonly sidecars: number | undefined;
}

/** Extensions of files that people consider pictures, so that they must be reported: akin refuses them. */
const OTHER_EXTENSIONS = new Set(
  'heic heif svg svgz ico jp2 jxl psd raw'.split(' ').map((extension) => `.${extension}`),
);

const VIDEO = /\.(mp4|m4v|mov|avi|mkv|webm|wmv|mpe?g|mts|m2ts|3gp)$/i;

const CONCURRENT_READS = 16;

export interface WalkListener {
  /** A folder, absolute, to which ids are relative. */
  onSource(folder: string): void;
  /** A path that exists and cannot be read. */
  onProblem(file: string, reason: string): void;
  /** A path, absolute, that was named and where nothing is: perhaps on a drive that is not connected. */
  onAbsent(file: string): void;
  /** A video, which akin does not read. */
  onVideo?(file: string): void;
}

/**
 * Walks a folder depth first in the order of names and yields every file that may be a picture. Hidden files and
 * folders are skipped, also if a visible link leads to them, and what is excluded. Links to folders are followed once
 * and last, so that a picture with two paths has the id of its real place. Paths that cannot be read are reported to the
 * listener and skipped.
 *
 * @param exclude patterns of what to leave out, as in .gitignore, relative to the folder
 */
export async function* walkFolder(
  folder: string,
  listener: WalkListener,
  exclude: readonly string[] = [],
): AsyncGenerator<Candidate> {
  const source = path.resolve(folder);
  listener.onSource(source);
  const seen = new Set<string>();
  const sidecars = new Sidecars();
  let root: string | undefined;
  const folders: Step[] = [{ folder: source, outer: Exclusions.of(source, exclude) }];
  const linked: Step[] = [];
  for (let step = folders.pop(); step !== undefined; step = folders.pop() ?? linked.shift()) {
    const next = step.folder;
    try {
      const real = await fs.realpath(next);
      root ??= real;
      if (seen.has(real) || isHiddenFrom(root, real)) continue;
      seen.add(real);
      const all = await fs.readdir(next, { withFileTypes: true });
      const names = all.map(({ name }) => name);
      sidecars.addFolder(next, names);
      const exclusions = await step.outer.inFolder(next, names);
      const inFolder: Place = { folder: next, real, root, source, sidecars };
      const entries = all.filter(({ name }) => !name.startsWith('.'));
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      const below: Step[] = [];
      for (let start = 0; start < entries.length; start += CONCURRENT_READS) {
        const some = entries.slice(start, start + CONCURRENT_READS);
        const found = await Promise.all(some.map((entry) => look(entry, inFolder, listener)));
        for (const [i, one] of found.entries()) {
          const file = path.join(next, some[i]?.name ?? '');
          if (one === undefined || exclusions.has(file, one === 'folder' || one === 'link')) continue;
          if (one === 'video') listener.onVideo?.(file);
          else if (typeof one === 'object') yield one;
          else (one === 'link' ? linked : below).push({ folder: file, outer: exclusions });
        }
      }
      for (const one of below.reverse()) folders.push(one);
    } catch (error) {
      // Removed while it was walked.
      if (next !== source && isGone(error)) continue;
      listener.onProblem(next, `the folder cannot be read: ${reasonOf(error)}`);
    }
  }
}

interface Step {
  readonly folder: string;
  /** Without those of its own file. */
  readonly outer: Exclusions;
}

interface Place {
  readonly folder: string;
  /** The real path of the folder. */
  readonly real: string;
  readonly source: string;
  /** The real path of the source. */
  readonly root: string;
  readonly sidecars: Sidecars;
}

function isHiddenFrom(root: string, real: string): boolean {
  return path
    .relative(root, real)
    .split(path.sep)
    .some((part) => part.startsWith('.') && part !== '..');
}

/** A file that may be a picture, a video, a folder, or a link to a folder. Undefined: none of them. */
async function look(
  entry: Dirent,
  { folder, real, source, root, sidecars }: Place,
  listener: WalkListener,
): Promise<Candidate | 'video' | 'folder' | 'link' | undefined> {
  const file = path.join(folder, entry.name);
  const isLink = entry.isSymbolicLink();
  try {
    if (entry.isDirectory()) return 'folder';
    if (!isLink && !entry.isFile()) return undefined;
    const stat = await fs.stat(file, { bigint: true });
    if (stat.isDirectory()) return 'link';
    if (stat.isFile() && VIDEO.test(entry.name)) return 'video';
    if (!stat.isFile() || !(await mayBePicture(file))) return undefined;
    const target = isLink ? await fs.realpath(file) : undefined;
    if (target !== undefined && isHiddenFrom(root, target)) return undefined;
    const state = await sidecars.stateOf(file);
    return candidateOf({ file, source, place: path.join(real, entry.name), target, stat, sidecars: state });
  } catch (error) {
    // Removed while its folder was read; a link that leads nowhere is a problem, and so is a name that is not UTF-8.
    if (isLink || !isGone(error) || entry.name.includes('\ufffd')) listener.onProblem(file, reasonOf(error));
    return undefined;
  }
}

export function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** A file that was named itself, or by a glob. @throws Error of the system */
export async function candidateOfFile(
  file: string,
  source: string,
  folderSidecars = new Sidecars(),
): Promise<Candidate> {
  const [folder, link, stat, sidecars] = await Promise.all([
    fs.realpath(path.dirname(file)),
    fs.lstat(file),
    fs.stat(file, { bigint: true }),
    folderSidecars.stateOf(file),
  ]);
  const target = link.isSymbolicLink() ? await fs.realpath(file) : undefined;
  return candidateOf({ file, source, place: path.join(folder, path.basename(file)), target, stat, sidecars });
}

function candidateOf({
  stat,
  ...named
}: Pick<Candidate, 'file' | 'source' | 'place' | 'target' | 'sidecars'> & { readonly stat: BigIntStats }): Candidate {
  const { file, source, place, target } = named;
  return {
    ...named,
    path: path.relative(source, file).split(path.sep).join('/'),
    bytes: Number(stat.size),
    modified: Number(stat.mtimeNs / 1_000_000_000n),
    changed: Number(stat.ctimeNs / 1_000_000n),
    // Of numbers that JSON cannot keep, the last 53 bits.
    inode: stat.ino === 0n ? undefined : Number(BigInt.asUintN(53, stat.ino)),
    // Some network drives give no numbers.
    real: stat.ino === 0n ? (target ?? place) : `${stat.dev}:${stat.ino}`,
    isLinked: target !== undefined || stat.nlink > 1n,
  };
}

/** The real file at a path, as of {@link FoundFile}. @throws Error of the system */
export async function realOf(file: string): Promise<string> {
  const { dev, ino } = await fs.stat(file, { bigint: true });
  return ino === 0n ? fs.realpath(file) : `${dev}:${ino}`;
}

/** Another one if a drive was mounted there; undefined if there is nothing, or nothing may be seen. */
export async function identityOf(file: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await fs.stat(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
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

export function reasonOf(error: unknown): string {
  const { code, path: file } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return 'no permission to read it';
  // Node replaces bytes of a name that are not UTF-8 when it lists the folder, so no file has that name.
  if (code === 'ENOENT' && file?.includes('\ufffd')) return 'its name is not UTF-8: rename it';
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'ELOOP') return 'its link points to itself';
  return error instanceof Error ? error.message : String(error);
}
