import { promises as fs } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { globStream } from './glob.ts';
import { type Candidate, idBelow, reasonOf, walkFolder } from './walk.ts';

/**
 * The files that a command line names: every picture below a folder, every match of a glob, a file, or with `-` the
 * paths on standard input, one a line. What does not exist is told to `onProblem`.
 */
export async function* candidatesOf(
  words: readonly string[],
  onProblem: (file: string, reason: string) => void,
): AsyncGenerator<Candidate> {
  for (const word of words) {
    if (word === '-') {
      for await (const line of createInterface({ input: process.stdin })) {
        if (line.trim() !== '') yield* named(line, onProblem);
      }
    } else {
      yield* named(word, onProblem);
    }
  }
}

async function* named(word: string, onProblem: (file: string, reason: string) => void): AsyncGenerator<Candidate> {
  try {
    const stat = await fs.stat(word);
    if (stat.isDirectory()) yield* walkFolder(word, onProblem);
    else yield alone(path.resolve(word));
  } catch (error) {
    const isGlob = /[*?[\]{}]/.test(word);
    if (!isGlob) return onProblem(word, reasonOf(error));
    const { base, files } = globStream(word);
    let count = 0;
    for await (const file of files) {
      count++;
      yield { file, id: idBelow(base, file), source: base };
    }
    if (count === 0) onProblem(word, 'nothing matches');
  }
}

/** A file that was named by itself: its id is the path below the folder that akin was started in, if it lies there. */
function alone(file: string): Candidate {
  const below = idBelow(process.cwd(), file);
  const source = below.startsWith('../') ? path.dirname(file) : process.cwd();
  return { file, id: idBelow(source, file), source };
}
