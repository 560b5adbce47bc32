import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Lists all files in a folder and its subfolders, sorted by path, without hidden ones. Symbolic links are followed. A
 * file reachable by two paths is listed once, by its real path if that is below the folder. Broken links are skipped.
 *
 * @throws {Error} when the path is not a folder; the message is for the user
 */
export async function listFiles(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) throw new Error(`There is no folder ${folder}.`);
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder.`);
  const folders = new Set<string>();
  const files = new Map<string, string>();
  const linked: string[] = [];

  async function walk(current: string): Promise<void> {
    const real = await realpath(current);
    if (folders.has(real)) return;
    folders.add(real);
    for (const entry of await readdir(current, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = join(current, entry.name);
      if (entry.isDirectory()) await walk(path);
      else if (entry.isFile()) files.set(join(real, entry.name), path);
      else if (entry.isSymbolicLink()) linked.push(path);
    }
  }

  await walk(folder);
  for (let path = linked.shift(); path !== undefined; path = linked.shift()) {
    const target = await stat(path).catch(() => undefined);
    if (target?.isDirectory()) await walk(path);
    else if (target?.isFile()) {
      const real = await realpath(path);
      if (!files.has(real)) files.set(real, path);
    }
  }
  return [...files.values()].sort();
}
