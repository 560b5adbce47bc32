import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askBroker } from './broker.ts';

/**
 * Copies a folder that costs seconds to make, as that of a database does. It is made once a run, by the first that asks
 * for its name.
 *
 * @param to an empty folder for the copy, or one that is not there yet
 */
export async function copyTemplate(name: string, to: string, make: (folder: string) => Promise<void>): Promise<void> {
  const shared = await askBroker('folder');
  const template = join(shared, name);
  if (!(await exists(template))) {
    const parent = await mkdtemp(join(shared, `${name}-`));
    const folder = join(parent, 'made');
    await make(folder);
    // Several may begin at the same time: the first one's is taken.
    await rename(folder, template).catch(async (error) => {
      if (!(await exists(template))) throw error;
    });
    await rm(parent, { recursive: true, force: true });
  }
  // A thousand files: Node copies them one by one, for three times as long.
  await mkdir(to, { recursive: true, mode: 0o700 });
  await promisify(execFile)('cp', ['-R', `${template}/.`, to]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
