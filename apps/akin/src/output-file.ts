import { stat } from 'node:fs/promises';
import path from 'node:path';
import { isFolder } from './is-folder.ts';
import { UsageError } from './options.ts';

/**
 * Whether a temporary file may replace this one when it is complete. A device or a pipe cannot be replaced: it must be
 * written directly.
 *
 * @throws {UsageError} for a folder, or if the folder of the file does not exist
 */
export async function mayReplace(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new UsageError(`${file} is a folder. Give the name of a file.`);
  if (found) return found.isFile();
  const folder = path.dirname(path.resolve(file));
  if (!(await isFolder(folder))) throw new UsageError(`${file} cannot be written: there is no folder ${folder}.`);
  return true;
}
