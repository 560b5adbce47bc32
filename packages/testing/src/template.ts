import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { askBroker } from './broker.ts';

/**
 * Copies a folder that takes seconds to create, such as that of a database. The first caller of a run that asks for a
 * name creates it, others reuse it.
 *
 * @param to an empty folder for the copy, or one that does not exist yet
 */
export async function copyTemplate(name: string, to: string, make: (folder: string) => Promise<void>): Promise<void> {
  const shared = await askBroker('folder');
  const template = join(shared, name);
  while (!(await exists(template))) {
    // In whichever process they are, one caller at a time can create this folder: the others wait.
    const turn = `${template}-turn`;
    if (await isCreated(turn)) await makeTemplate(template, make).finally(() => rmdir(turn));
    else await delay(50);
  }
  // Node copies a thousand files one by one, which takes three times as long.
  await mkdir(to, { recursive: true, mode: 0o700 });
  await promisify(execFile)('cp', ['-R', `${template}/.`, to]);
}

async function makeTemplate(template: string, make: (folder: string) => Promise<void>): Promise<void> {
  // Another one may have made it since the caller looked.
  if (await exists(template)) return;
  const parent = await mkdtemp(`${template}-`);
  const folder = join(parent, 'made');
  await make(folder);
  await rename(folder, template);
  await rm(parent, { recursive: true, force: true });
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
