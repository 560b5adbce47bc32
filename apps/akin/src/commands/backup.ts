import path from 'node:path';
import { Readable } from 'node:stream';
import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, parseOutputs } from '@akin/modules/vectors';
import { backup, openStore, restore } from '@akin/store';
import { holdsStore, writeBackup } from '@akin/store/database';
import { findAkin, givenUrl, SERVER_OPTIONS } from '../bulk/options.ts';
import { openDataFolder, printToStandardError } from '../data-folder.ts';
import { DATA_OPTION, databaseFolder, dataFolder } from '../data-option.ts';
import { type ParsedOptions, UsageError } from '../options.ts';
import { mayReplace } from '../output-file.ts';
import type { CommandModule } from '../program.ts';
import { runningServer } from '../server-file.ts';

type NodeStream = Parameters<typeof Readable.fromWeb>[0];

export const backupCommand: CommandModule = {
  command: {
    name: 'backup',
    usage: 'backup <file>',
    description:
      'Writes a backup of the embedded store to one file. The file is safe on disk when the command ends. A running akin continues to serve.',
    options: SERVER_OPTIONS.filter(({ name }) => name !== 'collection'),
  },
  async run(options, signal) {
    const file = onlyPositional(options);
    if (givenUrl(options) !== undefined || (await runningServer(dataFolder(options)))) {
      const { client, url } = await findAkin(options);
      await requireReplaceable(file);
      const bytes = Readable.fromWeb((await client.backup(signal)) as NodeStream);
      const failInterrupted = (error: Error) => {
        throw new UsageError(`The backup from ${url} was interrupted, and ${file} was not written: ${error.message}.`);
      };
      await writeBackup(path.resolve(file), bytes).catch(failInterrupted);
    } else await backUpOffline(options, file);
    process.stdout.write(`${file} contains everything that was accepted.\n`);
    return 0;
  },
};

async function backUpOffline(options: ParsedOptions, file: string): Promise<void> {
  const folder = databaseFolder(options);
  // A wrong folder must not create an empty store and replace an earlier backup with it.
  if (!(await holdsStore(folder))) throw new UsageError(`There is no store in ${folder}: give its folder with --data.`);
  await requireReplaceable(file);
  await openDataFolder(dataFolder(options), printToStandardError);
  await using store = await openStore({
    modules: MODULES,
    parseOutputs,
    descriptorTexts,
    folder,
    warn: printToStandardError,
  });
  await writeBackup(path.resolve(file), await backup(store));
}

export const restoreCommand: CommandModule = {
  command: {
    name: 'restore',
    usage: 'restore <file>',
    description: 'Creates a data folder from a file that akin backup wrote.',
    options: [DATA_OPTION],
  },
  async run(options) {
    const folder = databaseFolder(options);
    await requireNotServed(options);
    await openDataFolder(dataFolder(options), printToStandardError);
    await restore(folder, path.resolve(onlyPositional(options)));
    process.stdout.write(`${folder} is restored.\n`);
    return 0;
  },
};

/** @throws {UsageError} that names the akin which serves from the store, and says how to stop it */
async function requireNotServed(options: ParsedOptions): Promise<void> {
  const folder = dataFolder(options);
  const server = await runningServer(folder);
  if (server === undefined) return;
  throw new UsageError(
    `akin serves from ${folder} at ${server.url}: stop it first, with Ctrl-C in its terminal or with kill ${server.pid}. Or choose another folder with --data.`,
  );
}

async function requireReplaceable(file: string): Promise<void> {
  if (!(await mayReplace(file))) throw new UsageError(`${file} cannot be replaced: it is not a regular file.`);
}

function onlyPositional(options: ParsedOptions): string {
  const [file, ...more] = options.positionals;
  if (file === undefined || more.length > 0) throw new UsageError('Name one file.');
  return file;
}
