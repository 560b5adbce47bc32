import { takeFolder } from '@akin/store';
import { FOLDERS_FILE } from './originals/indexed-folders.ts';
import { SERVER_FILE } from './server-file.ts';

/** What akin keeps in a data folder. */
const NAMES = new Set([
  'database',
  'demo',
  ...[SERVER_FILE, FOLDERS_FILE].flatMap((name) => [name, `${name}.partial`]),
]);

/**
 * Makes the data folder where it is missing, and closes it to other users.
 * @param tell hears of one that others can write to
 * @throws AkinError that says what to do when it cannot be made, read or written, or holds files of somebody else
 */
export function openDataFolder(folder: string, tell: (text: string) => void): Promise<void> {
  return takeFolder(folder, (name) => NAMES.has(name), tell);
}

export function printToStandardError(text: string): void {
  process.stderr.write(`${text}\n`);
}
