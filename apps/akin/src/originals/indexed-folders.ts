import { hash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import path from 'node:path';
import { isFolder } from '../is-folder.ts';

/**
 * In the data folder: which folders this akin indexed itself into which collection, and whose files it may therefore
 * show there. It is not in the database: what a document says about its folder may come from anybody who can write
 * documents. Each is a file of its own, so that commands that run at the same time lose none.
 */
export const FOLDERS = 'folders';

interface IndexedFolder {
  readonly collection: string;
  readonly folder: string;
}

export async function rememberFolders(dataFolder: string, collection: string, paths: readonly string[]): Promise<void> {
  for (const one of paths) {
    if (one === '-' || !(await isFolder(one))) continue;
    // Otherwise the pictures are indexed anyway. Only their originals are not shown.
    await write(dataFolder, { collection, folder: path.resolve(one) }).catch(() => {});
  }
}

/** A later collection of the same name must not show the files of this one. */
export async function forgetFolders(dataFolder: string, collection: string): Promise<void> {
  for (const folder of await indexedFolders(dataFolder, collection)) {
    await fs.rm(fileOf(dataFolder, { collection, folder }), { force: true });
  }
}

export async function indexedFolders(dataFolder: string, collection: string): Promise<readonly string[]> {
  const names = await fs.readdir(path.join(dataFolder, FOLDERS)).catch(() => []);
  const read = await Promise.all(names.map((name) => readFolder(path.join(dataFolder, FOLDERS, name))));
  return read.flatMap((one) => (one?.collection === collection && path.isAbsolute(one.folder) ? [one.folder] : []));
}

async function readFolder(file: string): Promise<IndexedFolder | undefined> {
  try {
    const { collection, folder } = JSON.parse(await fs.readFile(file, 'utf8'));
    return typeof collection === 'string' && typeof folder === 'string' ? { collection, folder } : undefined;
  } catch {
    // It was forgotten in between, or is not complete after a crash.
    return undefined;
  }
}

async function write(dataFolder: string, indexed: IndexedFolder): Promise<void> {
  await fs.mkdir(path.join(dataFolder, FOLDERS), { recursive: true, mode: 0o700 });
  await fs.writeFile(fileOf(dataFolder, indexed), JSON.stringify(indexed), { mode: 0o600 });
}

function fileOf(dataFolder: string, { collection, folder }: IndexedFolder): string {
  return path.join(dataFolder, FOLDERS, `${hash('sha256', `${collection}\n${folder}`, 'hex').slice(0, 32)}.json`);
}
