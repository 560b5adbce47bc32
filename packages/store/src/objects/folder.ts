import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ListedObject, type ObjectStore, objectStoreUnavailable, type Range } from './object-store.ts';

/** Only this user may read the indexed data. */
const PRIVATE = { folder: 0o700, file: 0o600 };

/**
 * Objects as files of a folder, which several processes may share. @throws AkinError unavailable if it cannot be
 * created
 */
export async function openFolder(folder: string): Promise<ObjectStore> {
  const fileOf = (key: string) => path.join(folder, ...key.split('/'));
  const found = await withUnavailableError(async () => {
    await mkdir(folder, { recursive: true, mode: PRIVATE.folder });
    return stat(folder);
  });
  /** A disk that is no longer mounted leaves an empty folder: nothing is missing there, and nothing may be written. */
  const requireSame = async () => {
    const { dev, ino } = await stat(folder);
    if (dev !== found.dev || ino !== found.ino) throw new Error(`${folder} is not the folder that it was`);
  };
  return {
    location: folder,
    put: (key, bytes) =>
      withUnavailableError(async () => {
        await requireSame();
        await putFile(fileOf(key), bytes);
      }),
    get: (key, range) =>
      withUnavailableError(async () => {
        const bytes = await ignoreMissing(() => getFile(fileOf(key), range));
        if (bytes === undefined) await requireSame();
        return bytes;
      }),
    delete: (key) => withUnavailableError(() => rm(fileOf(key), { force: true })),
    list: (prefix) => listFolder(fileOf(prefix.slice(0, -1)), prefix),
    async [Symbol.asyncDispose]() {},
  };
}

/** A reader sees the complete file or none, also after a power cut. */
async function putFile(file: string, bytes: Uint8Array): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: PRIVATE.folder });
  const unfinished = `${file}.${randomUUID()}.part`;
  try {
    await writeSynced(unfinished, 'wx', (handle) => handle.writeFile(bytes));
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await writeSynced(folder, 'r');
}

type Handle = Awaited<ReturnType<typeof open>>;

async function writeSynced(file: string, flags: string, write?: (handle: Handle) => Promise<void>): Promise<void> {
  const handle = await open(file, flags, PRIVATE.file);
  try {
    await write?.(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function getFile(file: string, range?: Range): Promise<Buffer | undefined> {
  const handle = await open(file);
  try {
    if (range === undefined) return await handle.readFile();
    const bytes = Buffer.allocUnsafe(range.to - range.from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, range.from);
    return bytesRead === bytes.length ? bytes : undefined;
  } finally {
    await handle.close();
  }
}

/** A page contains the objects of one folder. */
async function* listFolder(folder: string, prefix: string): AsyncGenerator<ListedObject[]> {
  const entries =
    (await withUnavailableError(() => ignoreMissing(() => readdir(folder, { withFileTypes: true })))) ?? [];
  const page: ListedObject[] = [];
  for (const entry of entries) {
    const key = `${prefix}${entry.name}`;
    if (entry.isDirectory()) yield* listFolder(path.join(folder, entry.name), `${key}/`);
    else {
      const found = await withUnavailableError(() => ignoreMissing(() => stat(path.join(folder, entry.name))));
      if (found) page.push({ key, modified: found.mtime });
    }
  }
  if (page.length > 0) yield page;
}

async function ignoreMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function withUnavailableError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw objectStoreUnavailable(error);
  }
}
