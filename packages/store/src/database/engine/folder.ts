import { access, constants, open, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AkinError } from '@akin/domain';
import { isRunning } from '@akin/runtime';
import { preparePrivateFolder, unusable } from './private-folder.ts';

/**
 * The folder of an embedded store:
 *
 *     akin.json   what wrote it: format, PostgreSQL major, PGlite version
 *     lock        the process that uses it; PGlite itself has no lock, and two processes destroy the data
 *     pg/         the data directory of PGlite
 *     pg.new/     one that is being made: a kill in the middle of the first start leaves this behind, never half a pg/
 */
export interface DataFolder {
  readonly dataDirectory: string;
  /** Where to create a new data directory, if there is none yet. */
  readonly newDirectory: string;
  readonly exists: boolean;
}

const NAMES = /^(akin\.json|lock|pg)\b/;

/** The version of a folder. A change of any of these needs export and import. */
interface FolderFormat {
  readonly format: number;
  readonly postgres: number;
  readonly pglite: string;
}

const FORMAT: FolderFormat = { format: 1, postgres: 18, pglite: '0.5' };

/**
 * Reads the folder, refuses what another version wrote, and removes what a killed first start left. Needs the lock.
 */
export async function inspectFolder(folder: string): Promise<DataFolder> {
  const dataDirectory = join(folder, 'pg');
  const newDirectory = await removeNewDirectory(folder);
  const exists = await pathExists(dataDirectory);
  if (exists) {
    await checkFormat(folder);
    await access(dataDirectory, constants.R_OK | constants.W_OK | constants.X_OK).catch((error) => {
      throw unusable(dataDirectory, 'written', error);
    });
  }
  return { dataDirectory, newDirectory, exists };
}

/** Removes an unfinished database. Needs the lock. @returns where to create one */
export async function removeNewDirectory(folder: string): Promise<string> {
  const newDirectory = join(folder, 'pg.new');
  await rm(newDirectory, { recursive: true, force: true });
  return newDirectory;
}

/** Whether an embedded store was ever created there. @throws AkinError unavailable if that cannot be determined */
export function holdsStore(folder: string): Promise<boolean> {
  return pathExists(join(folder, 'pg'));
}

async function checkFormat(folder: string): Promise<void> {
  let found: FolderFormat;
  try {
    found = JSON.parse(await readFile(join(folder, 'akin.json'), 'utf8')) as FolderFormat;
  } catch (cause) {
    if (['EACCES', 'EPERM', 'EIO'].includes((cause as NodeJS.ErrnoException).code ?? '')) {
      throw unusable(folder, 'read', cause);
    }
    throw new AkinError(
      'conflict',
      `${folder} contains a database, but its akin.json is missing or damaged, so the version that wrote it is unknown. Restore a backup into an empty folder.`,
      { cause },
    );
  }
  const same = found.format === FORMAT.format && found.postgres === FORMAT.postgres && found.pglite === FORMAT.pglite;
  if (same) return;
  const name = (format: FolderFormat) =>
    `format ${format.format}, PostgreSQL ${format.postgres}, PGlite ${format.pglite}`;
  throw new AkinError(
    'conflict',
    `${folder} was written by another version of akin (${name(found)}; this one reads ${name(FORMAT)}). Export with the version that wrote it and import into an empty folder.`,
  );
}

export async function adoptNewDirectory(folder: string, { dataDirectory, newDirectory }: DataFolder): Promise<void> {
  // akin.json first: a folder without pg/ counts as new whatever akin.json says, and pg/ without akin.json is refused.
  const file = join(folder, 'akin.json');
  const handle = await open(`${file}.partial`, 'w', 0o600);
  await handle.writeFile(`${JSON.stringify(FORMAT)}\n`);
  await handle.sync();
  await handle.close();
  await rename(`${file}.partial`, file);
  await rename(newDirectory, dataDirectory);
}

/**
 * Locks the folder for this process, and creates it if it is missing. A lock of a dead process is taken over. @param
 * warn gets a warning if others can write to the folder @returns a function that releases it
 */
export async function lockFolder(folder: string, warn: (text: string) => void): Promise<() => Promise<void>> {
  await preparePrivateFolder(folder, (name) => NAMES.test(name), warn);
  const file = join(folder, 'lock');
  const mine = JSON.stringify({ pid: process.pid, started: processStart(await procStat(process.pid)) });
  for (let attempt = 0; attempt < 10; attempt++) {
    if (await createExclusively(file, mine)) return () => unlink(file).catch(() => undefined);
    const holder = await readHolder(file);
    if (holder !== undefined && (await isAlive(holder))) {
      throw new AkinError(
        'conflict',
        `Another akin (pid ${holder.pid}) uses ${folder}. Stop it, or choose another folder with --data.`,
      );
    }
    // Renaming the stale lock first makes sure that only one process removes it, if several found it.
    const stale = `${file}.stale-${process.pid}`;
    await rename(file, stale).catch(() => undefined);
    await rm(stale, { force: true });
  }
  throw new AkinError('conflict', `The lock of ${folder} keeps changing hands. Is something starting akin in a loop?`);
}

interface Holder {
  readonly pid: number;
  /** When the process began, in ticks since boot: it distinguishes processes that reuse a pid. Empty if unknown. */
  readonly started: string;
}

async function createExclusively(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // On a full disk the file exists, and is empty.
    await rm(file, { force: true }).catch(() => undefined);
    throw unusable(dirname(file), 'written', error);
  }
}

/** Undefined: there is no lock, or it is incomplete because its process died. */
async function readHolder(file: string): Promise<Holder | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as Holder;
    } catch {
      // Perhaps it is being written now.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  return undefined;
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  if (!isRunning(pid)) return false;
  const stat = await procStat(pid);
  // A killed process whose parent has not waited for it (in containers without an init) still has its number.
  if (/^[ZX]$/.test(statFields(stat)[0] ?? '')) return false;
  const now = processStart(stat);
  return started === '' || now === '' || started === now;
}

async function procStat(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
}

/** Field 22 of /proc/<pid>/stat. */
function processStart(stat: string): string {
  return statFields(stat)[19] ?? '';
}

/**
 * The fields of /proc/<pid>/stat from the third one (the state) on. The second field, the name, may contain blanks and
 * brackets.
 */
function statFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function pathExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw unusable(dirname(path), 'read', error);
  }
}
