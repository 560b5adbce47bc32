import { chmod, lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { AkinError } from '@akin/domain';

/** Permissions of users other than the owner. */
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user lacks the right',
  EPERM: 'this user lacks the right',
  EROFS: 'its file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  ENOTDIR: 'a file is in the way',
  EEXIST: 'a file is in the way',
  ENOENT: 'its file system does not allow such a folder',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links form a circle',
};

/** A folder that cannot be used for akin's data, with the reason and what to do. */
export function unusable(folder: string, doing: 'made' | 'read' | 'written', cause: unknown): AkinError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const reason = REASONS[code] ?? message;
  return new AkinError(
    'unavailable',
    `The folder ${folder} cannot be ${doing}: ${reason}. Change that, or choose another folder with --data.`,
    { cause },
  );
}

/**
 * Prepares a folder for files of akin only, which may contain secrets: creates it and its parents if missing, and
 * removes all permissions of other users.
 *
 * @param ours names of akin's files there. A folder with other files and none of these is refused; one with both keeps
 * its permissions.
 * @param warn gets a warning if others can write to the folder
 * @throws AkinError conflict, unavailable: the message names the folder and says what to do
 */
export async function preparePrivateFolder(
  folder: string,
  ours: (name: string) => boolean,
  warn: (text: string) => void,
): Promise<void> {
  await makeFolder(folder).catch((error) => {
    throw unusable(folder, 'made', error);
  });
  const names = await readdir(folder).catch((error) => {
    throw unusable(folder, 'read', error);
  });
  const foreign = names.filter((name) => !ours(name) && !name.startsWith('.') && name !== 'lost+found');
  if (foreign.length > 0 && !names.some(ours)) {
    const some = `${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}`;
    throw new AkinError(
      'conflict',
      `The folder ${folder} contains other files (${some}) and nothing of akin. Choose an empty folder, or a new one, with --data.`,
    );
  }
  await closeFolder(folder, foreign.length > 0, warn);
}

/**
 * Like Node's recursive `mkdir`, which never ends if an existing folder accepts no subfolder, as in /proc. New folders
 * are only for their owner, whatever the umask.
 */
async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let at = resolve(folder); !(await isFolder(at)); at = dirname(at)) {
    missing.push(at);
    // No root: a drive that does not exist.
    if (dirname(at) === at) break;
  }
  for (const one of missing.reverse()) {
    try {
      await mkdir(one, { mode: 0o700 });
    } catch (error) {
      // Another process may have been faster.
      if (!(await isFolder(one).catch(() => false))) throw error;
    }
  }
}

/** @throws Error ENOTDIR if a file is there, or above it */
async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found !== undefined && !found.isDirectory()) {
    throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
  }
  return found !== undefined;
}

async function closeFolder(folder: string, shared: boolean, warn: (text: string) => void): Promise<void> {
  const rights = await permissionsOf(folder);
  if ((rights & OTHERS) === 0) return;
  const open = (rights & OTHERS_WRITE) !== 0;
  const problem = `Other users of this machine can write to ${folder} (mode ${rights.toString(8)})`;
  if (shared) {
    if (open)
      warn(`${problem}. It also contains other files, so akin does not change that. Give akin a separate folder.`);
    return;
  }
  if (open) warn(`${problem}. akin removes that permission. Their earlier changes stay.`);
  await chmod(folder, rights & ~OTHERS).catch((error: Error) => {
    if (open) warn(`The mode of ${folder} cannot be changed: ${error.message}. Make it 700.`);
  });
}

/** The permission bits of the mode. None on Windows, where these bits mean little. */
async function permissionsOf(path: string): Promise<number> {
  if (process.platform === 'win32') return 0;
  const found = await lstat(path).catch(() => undefined);
  const target = found?.isSymbolicLink() ? await stat(path).catch(() => undefined) : found;
  return (target?.mode ?? 0) & 0o7777;
}
