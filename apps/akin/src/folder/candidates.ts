import { promises as fs } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../options.ts';
import { ExclusionsOfFiles } from './exclusions.ts';
import { findMatches } from './glob.ts';
import { Sidecars } from './sidecars.ts';
import { type Candidate, candidateOfFile, isGone, reasonOf, type WalkListener, walkFolder } from './walk.ts';

/**
 * The files that a command line names: every picture in a folder, every match of a glob, a file, or with `-` the paths
 * on standard input, one per line, until the signal. What does not exist is reported to the listener.
 *
 * @param options.exclude patterns of what to leave out of folders and globs, as in .gitignore
 */
export async function* candidatesOf(
  words: readonly string[],
  listener: WalkListener,
  signal: AbortSignal,
  { input = process.stdin, exclude = [] }: { input?: NodeJS.ReadableStream; exclude?: readonly string[] } = {},
): AsyncGenerator<Candidate> {
  for (const word of words) {
    if (word !== '-') {
      yield* candidatesOfArgument(word, listener, exclude);
      continue;
    }
    for await (const line of createInterface({ input, signal })) {
      if (line.trim() !== '') yield* candidatesOfArgument(line, listener, exclude);
    }
  }
}

/**
 * Refuses paths that do not exist, for commands that would otherwise continue without them.
 *
 * @param hint what to do instead
 * @throws UsageError
 */
export async function refuseMissing(words: readonly string[], hint?: string): Promise<void> {
  for (const word of words) {
    if (word === '-' || isPattern(word)) continue;
    const kind = await kindOf(word);
    if (kind !== 'folder' && kind !== 'file') throw new UsageError(`${word}: ${kind}.${hint ? ` ${hint}` : ''}`);
  }
}

async function* candidatesOfArgument(
  word: string,
  listener: WalkListener,
  exclude: readonly string[],
): AsyncGenerator<Candidate> {
  const kind = await kindOf(word);
  if (kind === 'folder') yield* walkFolder(word, listener, exclude);
  else if (kind === 'file') yield* namedFile(path.resolve(word), sourceOfFile(path.resolve(word)), listener);
  else if (isPattern(word)) yield* candidatesOfPattern(word, listener, exclude);
  else if (kind === NOTHING) listener.onAbsent(path.resolve(word));
  else {
    // What is known of its files is marked as missing.
    listener.onSource(path.resolve(word));
    listener.onProblem(word, kind);
  }
}

export function isPattern(word: string): boolean {
  return /[*?[\]{}]/.test(word);
}

const NOTHING = 'it does not exist';
/** Errors of drives that were disconnected while they were mounted. */
const AWAY = ['ENOTCONN', 'EHOSTDOWN', 'ESTALE', 'ENODEV', 'ENXIO', 'EIO'];

/** The kind of file at a path, or why there is none. */
async function kindOf(word: string): Promise<'folder' | 'file' | (string & {})> {
  try {
    const stat = await fs.stat(word);
    return stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'it is not a file';
  } catch (error) {
    return isGone(error) || AWAY.includes((error as NodeJS.ErrnoException).code ?? '') ? NOTHING : reasonOf(error);
  }
}

async function* candidatesOfPattern(
  pattern: string,
  listener: WalkListener,
  exclude: readonly string[],
): AsyncGenerator<Candidate> {
  const { base, files } = await findMatches(pattern);
  listener.onSource(base);
  // It may also be a folder with such a name.
  if (files.length === 0) listener.onAbsent(path.resolve(pattern));
  const exclusions = new ExclusionsOfFiles(base, exclude);
  const sidecars = new Sidecars();
  for (const file of files) {
    try {
      if (await exclusions.has(file)) continue;
    } catch (error) {
      listener.onProblem(file, reasonOf(error));
      continue;
    }
    yield* namedFile(file, base, listener, sidecars);
  }
}

/** The folder of a file that was named itself: the working directory, if it is inside. */
function sourceOfFile(file: string): string {
  const below = path.relative(process.cwd(), file);
  return below.startsWith(`..${path.sep}`) || path.isAbsolute(below) ? path.dirname(file) : process.cwd();
}

async function* namedFile(
  file: string,
  source: string,
  listener: WalkListener,
  sidecars?: Sidecars,
): AsyncGenerator<Candidate> {
  listener.onSource(source);
  try {
    yield await candidateOfFile(file, source, sidecars);
  } catch (error) {
    listener.onProblem(file, reasonOf(error));
  }
}
