import { preparePrivateFolder } from '@akin/store/database';
import { CHOICE_FILE } from './models/chosen-model.ts';
import { FOLDERS } from './originals/indexed-folders.ts';
import { SERVER_FILE } from './server-file.ts';

const NAMES = new Set(['database', 'demo', CHOICE_FILE, FOLDERS, SERVER_FILE, `${SERVER_FILE}.partial`]);

/**
 * Creates the data folder if it is missing, and closes it to other users.
 * @param warn gets a warning if others can write to the folder
 * @throws AkinError that says what to do if the folder cannot be created, read or written, or contains other files
 */
export function openDataFolder(folder: string, warn: (text: string) => void): Promise<void> {
  return preparePrivateFolder(folder, (name) => NAMES.has(name), warn);
}

export function printToStandardError(text: string): void {
  process.stderr.write(`${text}\n`);
}
