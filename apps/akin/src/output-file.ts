import { stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from './options.ts';

/**
 * Whether a temporary file may take this name when it is complete. A device or a pipe may not be replaced:
 * it has to be written to.
 *
 * @throws {UsageError} for a folder, or where there is none to make the file in
 */
export async function mayReplace(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isDirectory()) throw new UsageError(`${file} is a folder: name a file.`);
  if (found) return found.isFile();
  const folder = path.dirname(path.resolve(file));
  const isFolder = await stat(folder).then(
    (it) => it.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new UsageError(`${file} cannot be written: there is no folder ${folder}.`);
  return true;
}
