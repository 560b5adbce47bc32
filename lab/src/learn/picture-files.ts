import { dirname, relative } from 'node:path';
import { listFiles } from '@akin/modules/internal/learn/list-files';
import { evenSample, isPictureName } from '@akin/modules/internal/learn/sample-folder';

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
