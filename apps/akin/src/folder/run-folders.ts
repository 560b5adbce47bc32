import type { Collection } from '@akin/client';
import type { Analyzer } from '@akin/modules/analyze';
import type { ContentModels } from '../models/content-models.ts';
import type { Option, ParsedOptions } from '../options.ts';
import { rememberFolders } from '../originals/indexed-folders.ts';
import { candidatesOf } from './candidates.ts';
import { type FolderReport, indexFolder } from './index-folder.ts';
import { Progress } from './progress.ts';
import { exitCode, reportText } from './report.ts';
import { reportHeic } from './report-heic.ts';
import type { RetryableRuns } from './retryable-runs.ts';
import { RunReporter } from './run-reporter.ts';

/** Options of commands that index folders. */
export const FOLDER_OPTIONS: readonly Option[] = [
  { name: 'collection', valueName: 'name', description: 'Collection for the pictures', default: 'my-collection' },
  { name: 'labels-from-folders', description: 'Use the names of the folders of a picture as its labels' },
  { name: 'prune', description: 'Remove documents whose files are no longer in the folder' },
  {
    name: 'restore-deleted',
    description: 'Also index files whose documents were deleted on purpose. Default: skip them',
  },
];

export interface FoldersRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  /** The modules of the analyzer. */
  readonly models: ContentModels;
  readonly threads: number;
  readonly signal: AbortSignal;
  /** The ids of the pictures whose outputs are needed. Default: all pictures that the options select. */
  readonly onlyIds?: Set<string>;
  /**
   * The data folder of the akin that gets the pictures, if it is on this machine: it may show the files of the folders.
   */
  readonly dataFolder?: string;
  /** Gets the run, so that failed files can be retried. */
  readonly retryable?: RetryableRuns;
}

/**
 * Indexes the folders, globs or, for `-`, the paths on standard input that the command line names, and prints a report.
 * Returns the exit code.
 */
export function runFolders(options: ParsedOptions, run: FoldersRun): Promise<number> {
  return runOnce(options, run, undefined);
}

/**
 * The content model of the collection, if it is on this machine. Otherwise akin refuses the outputs, and names both
 * models.
 */
export async function modelOf(collection: Collection, models: ContentModels): Promise<string | undefined> {
  const { model } = await collection.status();
  const id = model && `${model.name}:${model.hash}`;
  return id !== undefined && (await models.has(id)) ? id : undefined;
}

/** @param retryOf the run to repeat: files that did not fail in it are skipped */
async function runOnce(options: ParsedOptions, run: FoldersRun, retryOf: string | undefined): Promise<number> {
  const { onlyIds, retryable, dataFolder, models, ...rest } = run;
  if (dataFolder !== undefined) await rememberFolders(dataFolder, run.collection.name, options.positionals);
  const isWhole = onlyIds === undefined && retryOf === undefined;
  const progress = new Progress(process.stderr);
  const reporter = new RunReporter(run.collection, options.positionals.join(' '), progress, retryOf);
  let report: FolderReport | undefined;
  try {
    if (isWhole) await reportHeic(options.positionals, (line) => progress.printLine(line), run.signal);
    report = await indexFolder({
      ...rest,
      model: await modelOf(run.collection, models),
      async *candidates(listener) {
        for await (const candidate of candidatesOf(options.positionals, listener, run.signal)) {
          if (onlyIds === undefined || onlyIds.has(candidate.id)) yield candidate;
        }
      },
      labelsFromFolders: onlyIds === undefined && options.isOn('labels-from-folders'),
      // A temporary collection may contain pictures of a folder that was named by mistake.
      replaceOthers: onlyIds !== undefined,
      prune: isWhole && options.isOn('prune'),
      restoreDeleted: isWhole && options.isOn('restore-deleted'),
      progress,
    });
  } finally {
    progress.finish();
    const isRetryable = report !== undefined && report.failures.length > 0 && !options.positionals.includes('-');
    if (isRetryable) retryable?.offer(reporter.id, () => runOnce(options, run, reporter.id));
    await reporter.finish(report === undefined ? 'failed' : report.stopped ? 'stopped' : 'done');
  }
  process.stdout.write(`${reportText(report)}\n`);
  return exitCode(report);
}
