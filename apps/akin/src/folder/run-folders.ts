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
  { name: 'labels-from-folders', about: 'Give each picture the names of its folders as labels' },
  { name: 'prune', about: 'Remove documents whose file is gone from the folder' },
  {
    name: 'restore-deleted',
    about: 'Bring back documents that were deleted on purpose; their files are left out otherwise',
  },
];

/**
 * Indexes the folders, globs or, for `-`, the paths on standard input that the command line names, and prints a report.
 * Gives the exit code.
 *
 * @param only the ids of the pictures whose outputs alone are wanted; all pictures, as the options have it, when not given
 */
export async function runFolders(
  options: Parsed,
  {
    only,
    ...run
  }: { collection: Collection; analyzer: Analyzer; threads: number; signal: AbortSignal; only?: Set<string> },
): Promise<number> {
  const progress = new Progress(process.stderr);
  const report = await indexFolder({
    ...run,
    async *candidates(listener) {
      for await (const candidate of candidatesOf(options.words, listener, run.signal)) {
        if (only === undefined || only.has(candidate.id)) yield candidate;
      }
    },
    labelsFromFolders: only === undefined && options.on('labels-from-folders'),
    prune: only === undefined && options.on('prune'),
    restoreDeleted: only === undefined && options.on('restore-deleted'),
    progress,
  });
  progress.finish();
  process.stdout.write(`${reportText(report)}\n`);
  return exitCode(report);
}
