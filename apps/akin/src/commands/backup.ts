import path from 'node:path';
import { MODULES } from '@akin/modules/manifests';
import { parseOutputs } from '@akin/modules/vectors';
import { backup, holdsStore, openStore, restore } from '@akin/store';
import type { Program } from '../main.ts';
import { type Option, type Parsed, UsageError } from '../options.ts';
import { mayReplace } from '../output-file.ts';
import { databaseFolder, STORE_OPTIONS } from './serve-options.ts';

const DATA_OPTION: readonly Option[] = STORE_OPTIONS.filter(({ name }) => name === 'data');

export const backupCommand: Program = {
  command: {
    name: 'backup',
    usage: 'backup <file>',
    about:
      'Writes the embedded store into one file that is safe on the disk when the command ends. akin must not be serving from it meanwhile.',
    options: DATA_OPTION,
  },
  async run(options) {
    const file = onlyWord(options);
    const folder = databaseFolder(options);
    // A wrong folder must not end as the backup of a store that was just made, over the one of yesterday.
    if (!(await holdsStore(folder)))
      throw new UsageError(`There is no store in ${folder}: name its folder with --data.`);
    if (!(await mayReplace(file))) throw new UsageError(`${file} is no file that could be replaced.`);
    await using store = await openStore({ modules: MODULES, parseOutputs, folder });
    await backup(store, path.resolve(file));
    process.stdout.write(`${file} holds everything that was accepted.\n`);
    return 0;
  },
};

export const restoreCommand: Program = {
  command: {
    name: 'restore',
    usage: 'restore <file>',
    about: 'Fills a new data folder from a file that backup wrote.',
    options: DATA_OPTION,
  },
  async run(options) {
    const folder = databaseFolder(options);
    await restore(folder, path.resolve(onlyWord(options)));
    process.stdout.write(`${folder} is restored.\n`);
    return 0;
  },
};

function onlyWord(options: Parsed): string {
  const [file, ...more] = options.words;
  if (file === undefined || more.length > 0) throw new UsageError('Name one file.');
  return file;
}
