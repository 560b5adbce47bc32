import { evenSample } from '@akin/modules/internal/learn/sample-folder';
import { pictureFiles } from './picture-files.ts';

/**
 * A class needs at least 3 pictures to show how they differ. From larger classes only the second number is used, so
 * that no class dominates.
 */
const MIN_OF_CLASS = 3;
const MAX_OF_CLASS = 30;
/** More classes hardly improve the result; a sample of all classes is used. */
const MAX_CLASSES = 500;

/**
 * The picture files of each class. Every subfolder at any depth with three or more pictures is a class. Files outside
 * such folders belong to no class.
 *
 * @throws {Error} when the folder does not exist, or contains no class; the message is for the user
 */
export async function classFolders(folder: string): Promise<string[][]> {
  const classes = new Map<string, string[]>();
  for (const { file, label } of await pictureFiles(folder)) {
    if (label === '') continue;
    const members = classes.get(label);
    if (members) members.push(file);
    else classes.set(label, [file]);
  }
  const found = [...classes.values()].filter((files) => files.length >= MIN_OF_CLASS);
  if (found.length === 0)
    throw new Error(
      `${folder} contains no folder with ${MIN_OF_CLASS} pictures of a class. There must be one folder per class.`,
    );
  return evenSample(MAX_CLASSES, found).map((files) => evenSample(MAX_OF_CLASS, files));
}

/**
 * Analyzes the pictures of each class. Classes with fewer than three readable pictures are omitted.
 *
 * @param folder The folder of the classes.
 * @param classes Files of each class, from {@link classFolders}.
 * @param see Returns the results for those files that can be read.
 * @throws {Error} when no class is left; the message is for the user
 */
export async function analyzeClasses<T>(
  folder: string,
  classes: readonly (readonly string[])[],
  see: (files: readonly string[]) => Promise<T[]>,
): Promise<T[][]> {
  const seen: T[][] = [];
  for (const files of classes) {
    const members = await see(files);
    if (members.length >= MIN_OF_CLASS) seen.push(members);
  }
  if (seen.length > 0) return seen;
  throw new Error(
    `${folder} contains no folder with ${MIN_OF_CLASS} readable pictures of a class: see the skipped files.`,
  );
}
