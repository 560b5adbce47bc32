import { promises as fs } from 'node:fs';
import path from 'node:path';

/**
 * In the data folder: the folders whose pictures this akin indexed itself, and whose files it may therefore show. It is
 * not in the database: what a document says about its folder may come from anybody who can write documents.
 */
export const FOLDERS_FILE = 'folders.json';

/** Adds those paths that are folders. */
export async function rememberFolders(dataFolder: string, paths: readonly string[]): Promise<void> {
  const known = await indexedFolders(dataFolder);
  const folders: string[] = [];
  for (const one of paths) {
    if (one !== '-' && (await isFolder(one))) folders.push(path.resolve(one));
  }
  const all = [...new Set([...known, ...folders])];
  if (all.length === known.length) return;
  const file = path.join(dataFolder, FOLDERS_FILE);
  try {
    // Atomic: no reader sees half of it.
    await fs.writeFile(`${file}.partial`, JSON.stringify(all), { mode: 0o600 });
    await fs.rename(`${file}.partial`, file);
  } catch {
    // The pictures are indexed anyway. Only their originals are not shown.
  }
}

/** Absolute paths. */
export async function indexedFolders(dataFolder: string): Promise<string[]> {
  try {
    const folders: unknown = JSON.parse(await fs.readFile(path.join(dataFolder, FOLDERS_FILE), 'utf8'));
    return Array.isArray(folders) ? folders.filter((one) => typeof one === 'string' && path.isAbsolute(one)) : [];
  } catch {
    return [];
  }
}

function isFolder(one: string): Promise<boolean> {
  return fs.stat(one).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
}
