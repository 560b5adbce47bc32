import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
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
  if (!(await exists(template))) {
    const parent = await mkdtemp(join(shared, `${name}-`));
    const folder = join(parent, 'made');
    await make(folder);
    // Several callers may create it at the same time: the first one to finish wins.
    await rename(folder, template).catch(async (error) => {
      if (!(await exists(template))) throw error;
    });
    await rm(parent, { recursive: true, force: true });
  }
  // Node copies a thousand files one by one, which takes three times as long.
  await mkdir(to, { recursive: true, mode: 0o700 });
  await promisify(execFile)('cp', ['-R', `${template}/.`, to]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
