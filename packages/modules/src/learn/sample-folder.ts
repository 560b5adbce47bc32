import { dirname, extname, relative } from 'node:path';
import { PICTURE_ENDINGS } from '@akin/imaging';
import { filesBelow } from './files-below.ts';

export interface PictureFile {
  readonly file: string;
  /** The folder that it lies in, from the one asked for: its class. Empty for the folder itself. */
  readonly label: string;
}

/**
 * The picture files of a folder and those below it, known by the endings of their names, in the order of their paths.
 *
 * @throws {Error} when it is no folder: what it says is for the user.
 */
export async function pictureFiles(folder: string): Promise<PictureFile[]> {
  const files = (await filesBelow(folder)).filter(isPictureName);
  return files.map((file) => ({ file, label: dirname(relative(folder, file)).replace(/^\.$/, '') }));
}

/** Whether a name ends as those of pictures do. */
function isPictureName(name: string): boolean {
  return PICTURE_ENDINGS.has(extname(name).toLowerCase());
}

/**
 * At most so many files, in their order: those that are named as pictures, filled up with others, both spread evenly over
 * the list.
 */
export function fewerFiles(most: number, files: readonly string[]): string[] {
  if (files.length <= most) return [...files];
  const named = spreadOver(most, files.filter(isPictureName));
  const others = files.filter((file) => !isPictureName(file));
  const taken = new Set([...named, ...spreadOver(most - named.length, others)]);
  return files.filter((file) => taken.has(file));
}

/**
 * A sample of them: spread evenly, at most `sample`.
 *
 * @throws {Error} when it is no folder, or holds fewer than two files that may be pictures: what it says is for the user.
 */
export async function sampleFolder(folder: string, sample: number): Promise<PictureFile[]> {
  const files = await pictureFiles(folder);
  if (files.length < 2) {
    throw new Error(
      `${folder} holds ${files.length === 0 ? 'no picture' : 'one picture'}: two or more can be compared.`,
    );
  }
  return spreadOver(sample, files);
}

/** Items spread evenly over a list: at most so many, in its order. */
export function spreadOver<T>(most: number, list: readonly T[]): T[] {
  return spread(most, list.length).map((place) => list[place] as T);
}

/** Places spread evenly over a list of a length: at most so many, rising. */
export function spread(most: number, length: number): number[] {
  const count = Math.min(most, length);
  return Array.from({ length: count }, (_, i) => Math.floor((i * length) / count));
}
