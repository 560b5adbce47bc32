import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { askBroker } from './broker.ts';

/**
 * Makes something that takes seconds, such as a database, once in a run: the first caller of a run that asks for a name
 * makes it, others wait for it.
 *
 * @param make creates the path that it gets, at once and complete
 * @returns this path
 */
export async function onceInRun(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(await askBroker('folder'), name);
  while (!(await exists(path))) {
    // In whichever process they are, one caller at a time can create this folder: the others wait.
    const turn = `${path}-turn`;
    if (!(await isCreated(turn))) {
      await delay(50);
      continue;
    }
    try {
      // Another one may have made it since the caller looked.
      if (!(await exists(path))) await make(path);
    } finally {
      await rmdir(turn);
    }
  }
  return path;
}

/**
 * Copies a folder that a run makes once.
 *
 * @param to an empty folder for the copy, or one that does not exist yet
 */
export async function copyTemplate(name: string, to: string, make: (folder: string) => Promise<void>): Promise<void> {
  const template = await onceInRun(name, async (path) => {
    const parent = await mkdtemp(`${path}-`);
    const folder = join(parent, 'made');
    await make(folder);
    await rename(folder, path);
    await rm(parent, { recursive: true, force: true });
  });
  // Node copies a thousand files one by one, which takes three times as long.
  await mkdir(to, { recursive: true, mode: 0o700 });
  await promisify(execFile)('cp', ['-R', `${template}/.`, to]);
}

/** @returns false if there is such a folder already */
async function isCreated(folder: string): Promise<boolean> {
  return mkdir(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
