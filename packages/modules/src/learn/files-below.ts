import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * All files in a folder and those below, in the order of their paths. Hidden ones are left out. Links are followed, and
 * what is reached in two ways is taken once, by its own place if that is below the folder; links to nothing are passed
 * over.
 *
 * @throws {Error} when it is no folder: what it says is for the user.
 */
export async function filesBelow(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) throw new Error(`There is no folder ${folder}.`);
  if (!found.isDirectory()) throw new Error(`${folder} is not a folder.`);
  const folders = new Set<string>();
  const files = new Map<string, string>();
  const linked: string[] = [];

  async function walk(place: string): Promise<void> {
    const real = await realpath(place);
    if (folders.has(real)) return;
    folders.add(real);
    for (const entry of await readdir(place, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = join(place, entry.name);
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
