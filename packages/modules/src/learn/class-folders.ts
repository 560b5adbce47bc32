import { pictureFiles, spreadOver } from './sample-folder.ts';

/** A class tells by at least 3 pictures how they differ; of larger ones these many are taken, so that none outweighs all. */
const LEAST_OF_CLASS = 3;
const MOST_OF_CLASS = 30;
/** More classes tell hardly more; these are taken from all of them. */
const MOST_CLASSES = 500;

/**
 * The picture files of each class: of every folder below a folder that holds three or more, whatever folder that lies
 * in. Files next to these folders belong to no class.
 *
 * @throws {Error} when there is no such folder, or no class in it: what it says is for the user.
 */
export async function classFolders(folder: string): Promise<string[][]> {
  const classes = new Map<string, string[]>();
  for (const { file, label } of await pictureFiles(folder)) {
    if (label === '') continue;
    const members = classes.get(label);
    if (members) members.push(file);
    else classes.set(label, [file]);
  }
  const found = [...classes.values()].filter((files) => files.length >= LEAST_OF_CLASS);
  if (found.length === 0)
    throw new Error(
      `${folder} holds no folder with ${LEAST_OF_CLASS} pictures of a class: a folder for each class is wanted.`,
    );
  return spreadOver(MOST_CLASSES, found).map((files) => spreadOver(MOST_OF_CLASS, files));
}

/**
 * What is seen in each class, those left out of which fewer than three pictures can be read.
 *
 * @param folder That holds them.
 * @param classes Files of each, as {@link classFolders} gives them.
 * @param see Gives what is seen in those of these files that can be read.
 * @throws {Error} when no class is left: what it says is for the user.
 */
export async function seeClasses<T>(
  folder: string,
  classes: readonly (readonly string[])[],
  see: (files: readonly string[]) => Promise<T[]>,
): Promise<T[][]> {
  const seen: T[][] = [];
  for (const files of classes) {
    const members = await see(files);
    if (members.length >= LEAST_OF_CLASS) seen.push(members);
  }
  if (seen.length > 0) return seen;
  throw new Error(
    `${folder} holds no folder with ${LEAST_OF_CLASS} pictures of a class that can be read: see the files that were skipped.`,
  );
}
