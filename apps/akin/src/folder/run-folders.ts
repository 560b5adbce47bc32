import type { Collection } from '@akin/client';
import type { Analyzer } from '@akin/modules/analyze';
import type { Option, Parsed } from '../options.ts';
import { candidatesOf } from './candidates.ts';
import { indexFolder } from './index-folder.ts';
import { Progress } from './progress.ts';
import { exitCode, reportText } from './report.ts';

/** Options of commands that index folders. */
export const FOLDER_OPTIONS: readonly Option[] = [
  { name: 'collection', value: 'name', about: 'Collection that takes the pictures', default: 'my-collection' },
  { name: 'labels-from-folders', about: "The names of the folders on a picture's path become its labels" },
  { name: 'prune', about: 'Remove documents whose file is gone from the folder' },
];

/**
 * Indexes the folders, globs or, for `-`, the paths on standard input that the command line names, and prints a report.
 * Gives the exit code.
 */
export async function runFolders(
  options: Parsed,
  run: { collection: Collection; analyzer: Analyzer; threads: number; signal: AbortSignal },
): Promise<number> {
  const progress = new Progress(process.stderr);
  const report = await indexFolder({
    ...run,
    candidates: (listener) => candidatesOf(options.words, listener, run.signal),
    labelsFromFolders: options.on('labels-from-folders'),
    prune: options.on('prune'),
    progress,
  });
  progress.finish();
  process.stdout.write(`${reportText(report)}\n`);
  return exitCode(report);
}
