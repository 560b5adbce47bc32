import path from 'node:path';
import { MODULES } from '@akin/modules/manifests';
import { parseOutputs } from '@akin/modules/vectors';
import { backup, holdsStore, openStore, restore } from '@akin/store';
import { openDataFolder, tellOnStandardError } from '../data-folder.ts';
import { DATA_OPTION, databaseFolder, dataFolder } from '../data-option.ts';
import { type Parsed, UsageError } from '../options.ts';
import { mayReplace } from '../output-file.ts';
import type { Program } from '../program.ts';
import { runningServer } from '../server-file.ts';

export const backupCommand: Program = {
  command: {
    name: 'backup',
    usage: 'backup <file>',
    about:
      'Writes the embedded store into one file, which is safe on disk when the command ends. Stop the akin that serves from it first.',
    options: [DATA_OPTION],
  },
  async run(options) {
    const file = onlyWord(options);
    const folder = databaseFolder(options);
    // A wrong folder must not end as the backup of a store that was just made, over the one of yesterday.
    if (!(await holdsStore(folder)))
      throw new UsageError(`There is no store in ${folder}: name its folder with --data.`);
    await refuseServed(options, 'While it serves, akin export writes what is visible.');
    if (!(await mayReplace(file))) throw new UsageError(`${file} is no file that could be replaced.`);
    await openDataFolder(dataFolder(options), tellOnStandardError);
    await using store = await openStore({ modules: MODULES, parseOutputs, folder, tell: tellOnStandardError });
    await backup(store, path.resolve(file));
    process.stdout.write(`${file} holds everything that was accepted.\n`);
    return 0;
  },
};

export const restoreCommand: Program = {
  command: {
    name: 'restore',
    usage: 'restore <file>',
    about: 'Makes a new data folder from a file of akin backup.',
    options: [DATA_OPTION],
  },
  async run(options) {
    const folder = databaseFolder(options);
    await refuseServed(options, 'Or choose another folder with --data.');
    await openDataFolder(dataFolder(options), tellOnStandardError);
    await restore(folder, path.resolve(onlyWord(options)));
    process.stdout.write(`${folder} is restored.\n`);
    return 0;
  },
};

/** @throws {UsageError} that names the akin which serves from the store, and says how to stop it */
async function refuseServed(options: Parsed, otherwise: string): Promise<void> {
  const folder = dataFolder(options);
  const server = await runningServer(folder);
  if (server === undefined) return;
  throw new UsageError(
    `akin serves from ${folder} at ${server.url}: stop it first, by Ctrl-C where it runs or by kill ${server.pid}. ${otherwise}`,
  );
}

function onlyWord(options: Parsed): string {
  const [file, ...more] = options.words;
  if (file === undefined || more.length > 0) throw new UsageError('Name one file.');
  return file;
}
