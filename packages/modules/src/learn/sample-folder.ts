import { dirname, extname, relative } from 'node:path';
import { PICTURE_EXTENSIONS } from '@akin/imaging';
import { listFiles } from './list-files.ts';

export interface PictureFile {
  readonly file: string;
  /** The path of its folder, relative to the sampled folder: its class. Empty for the sampled folder itself. */
  readonly label: string;
}

/**
 * The picture files of a folder and its subfolders, recognized by file name extension, sorted by path.
 *
 * @throws {Error} when the path is not a folder; the message is for the user
 */
export async function pictureFiles(folder: string): Promise<PictureFile[]> {
  const files = (await listFiles(folder)).filter(isPictureName);
  return files.map((file) => ({ file, label: dirname(relative(folder, file)).replace(/^\.$/, '') }));
}

function isPictureName(name: string): boolean {
  return PICTURE_EXTENSIONS.has(extname(name).toLowerCase());
}

/**
 * At most `max` of the files, in their order. Files named like pictures come before others; both are sampled evenly.
 */
export function fewerFiles(max: number, files: readonly string[]): string[] {
  if (files.length <= max) return [...files];
  const named = evenSample(max, files.filter(isPictureName));
  const others = files.filter((file) => !isPictureName(file));
  const taken = new Set([...named, ...evenSample(max - named.length, others)]);
  return files.filter((file) => taken.has(file));
}

/**
 * An evenly spaced sample of at most `sample` files.
 *
 * @throws {Error} when the path is not a folder, or has fewer than two files that may be pictures; the message is for
 * the user
 */
export async function sampleFolder(folder: string, sample: number): Promise<PictureFile[]> {
  const files = await pictureFiles(folder);
  if (files.length < 2) {
    throw new Error(
      `${folder} contains ${files.length === 0 ? 'no picture' : 'one picture'}: two or more can be compared.`,
    );
  }
  return evenSample(sample, files);
}

export function evenSample<T>(max: number, list: readonly T[]): T[] {
  return evenIndexes(max, list.length).map((index) => list[index] as T);
}

export function evenIndexes(max: number, length: number): number[] {
  const count = Math.min(max, length);
  return Array.from({ length: count }, (_, i) => Math.floor((i * length) / count));
}
