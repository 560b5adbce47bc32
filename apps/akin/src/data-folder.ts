import { takeFolder } from '@akin/store';
import { SERVER_FILE } from './server-file.ts';

/** What akin keeps in a data folder. */
const NAMES = new Set(['database', 'demo', SERVER_FILE, `${SERVER_FILE}.partial`]);

/**
 * Makes the data folder where it is missing, and closes it to other users.
 * @param tell hears of one that others can write to
 * @throws AkinError that says what to do when it cannot be made, read or written, or holds files of somebody else
 */
export function openDataFolder(folder: string, tell: (text: string) => void): Promise<void> {
  return takeFolder(folder, (name) => NAMES.has(name), tell);
}

export function tellOnStandardError(text: string): void {
  process.stderr.write(`${text}\n`);
}
