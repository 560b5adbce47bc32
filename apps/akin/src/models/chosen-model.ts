import { readFileSync } from 'node:fs';
import path from 'node:path';

/** In the data folder: the name of the content model that the user chose at the first start. */
export const CHOICE_FILE = 'content-model';

/** The content model that was chosen for a data folder; undefined: akin's own. */
export function chosenModel(dataFolder: string): string | undefined {
  try {
    return /^(?!akin$)[A-Za-z0-9][\w.-]{0,99}$/.exec(
      readFileSync(path.join(dataFolder, CHOICE_FILE), 'utf8').trim(),
    )?.[0];
  } catch {
    return undefined;
  }
}
