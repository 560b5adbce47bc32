import { promises as fs } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../options.ts';
import { findMatches } from './glob.ts';
import { type Candidate, reasonOf, relativeId, type WalkListener, walkFolder } from './walk.ts';

/**
 * The files that a command line names: every picture in a folder, every match of a glob, a file, or with `-` the paths
 * on standard input, one per line, until the signal. Paths that do not exist are reported to the listener.
 */
export async function* candidatesOf(
  words: readonly string[],
  listener: WalkListener,
  signal: AbortSignal,
  input: NodeJS.ReadableStream = process.stdin,
): AsyncGenerator<Candidate> {
  for (const word of words) {
    if (word !== '-') {
      yield* candidatesOfArgument(word, listener);
      continue;
    }
    for await (const line of createInterface({ input, signal })) {
      if (line.trim() !== '') yield* candidatesOfArgument(line, listener);
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

async function* candidatesOfArgument(word: string, listener: WalkListener): AsyncGenerator<Candidate> {
  const kind = await kindOf(word);
  if (kind === 'folder') yield* walkFolder(word, listener);
  else if (kind === 'file') yield candidateOfFile(path.resolve(word), listener);
  else if (isPattern(word)) yield* candidatesOfPattern(word, listener);
  else listener.onProblem(word, kind);
}

function isPattern(word: string): boolean {
  return /[*?[\]{}]/.test(word);
}

/** The kind of file at a path, or why there is none. */
async function kindOf(word: string): Promise<'folder' | 'file' | (string & {})> {
  try {
    const stat = await fs.stat(word);
    return stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'it is not a file';
  } catch (error) {
    return reasonOf(error);
  }
}

async function* candidatesOfPattern(pattern: string, listener: WalkListener): AsyncGenerator<Candidate> {
  const { base, files } = await findMatches(pattern);
  listener.onSource(base);
  if (files.length === 0) listener.onProblem(pattern, 'nothing matches');
  for (const file of files) yield { file, id: relativeId(base, file), source: base };
}

/** A file that was named itself. Its id is its path relative to the working directory, if it is inside. */
function candidateOfFile(file: string, listener: WalkListener): Candidate {
  const below = path.relative(process.cwd(), file);
  const source = below.startsWith(`..${path.sep}`) || path.isAbsolute(below) ? path.dirname(file) : process.cwd();
  listener.onSource(source);
  return { file, id: relativeId(source, file), source };
}
