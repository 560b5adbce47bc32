import { promises as fs } from 'node:fs';
import path from 'node:path';

/**
 * In the data folder: which folders this akin indexed itself into which collection, and whose files it may therefore
 * show there. It is not in the database: what a document says about its folder may come from anybody who can write
 * documents.
 */
export const FOLDERS_FILE = 'folders.json';

/** Absolute paths by the name of the collection. */
type Folders = ReadonlyMap<string, readonly string[]>;

/** Adds those paths that are folders. */
export async function rememberFolders(dataFolder: string, collection: string, paths: readonly string[]): Promise<void> {
  const known = await readFolders(dataFolder);
  const folders = new Set(known.get(collection));
  const before = folders.size;
  for (const one of paths) {
    if (one !== '-' && (await isFolder(one))) folders.add(path.resolve(one));
  }
  if (folders.size === before) return;
  // Otherwise the pictures are indexed anyway. Only their originals are not shown.
  await writeFolders(dataFolder, new Map([...known, [collection, [...folders]]])).catch(() => {});
}

/** A later collection of the same name must not show the files of this one. */
export async function forgetFolders(dataFolder: string, collection: string): Promise<void> {
  const folders = new Map(await readFolders(dataFolder));
  if (!folders.delete(collection)) return;
  // On a full disk, too much is forgotten, until the folders are indexed again.
  await writeFolders(dataFolder, folders).catch(() => fs.rm(path.join(dataFolder, FOLDERS_FILE), { force: true }));
}

/** The folders that were indexed into a collection, as absolute paths. */
export async function indexedFolders(dataFolder: string, collection: string): Promise<readonly string[]> {
  return (await readFolders(dataFolder)).get(collection) ?? [];
}

async function readFolders(dataFolder: string): Promise<Folders> {
  try {
    const read: unknown = JSON.parse(await fs.readFile(path.join(dataFolder, FOLDERS_FILE), 'utf8'));
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return new Map();
    return new Map(Object.entries(read).map(([collection, folders]) => [collection, absolutePaths(folders)]));
  } catch {
    return new Map();
  }
}

function absolutePaths(folders: unknown): string[] {
  return Array.isArray(folders) ? folders.filter((one) => typeof one === 'string' && path.isAbsolute(one)) : [];
}

/** Atomic: no reader sees half of it. */
async function writeFolders(dataFolder: string, folders: Folders): Promise<void> {
  const file = path.join(dataFolder, FOLDERS_FILE);
  await fs.writeFile(`${file}.partial`, JSON.stringify(Object.fromEntries(folders)), { mode: 0o600 });
  await fs.rename(`${file}.partial`, file);
}

function isFolder(one: string): Promise<boolean> {
  return fs.stat(one).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
}
