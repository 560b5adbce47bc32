import type { Collection } from '@akin/client';
import type { Analyzer } from '@akin/modules/analyze';
import { splitList } from '../fleet/options.ts';
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
  {
    name: 'prune',
    description:
      'Remove documents whose files are gone. Default: mark them as missing. Nothing is removed of a folder that lost more than half of its pictures',
  },
  {
    name: 'exclude',
    valueName: 'patterns',
    description: 'What to leave out of folders, as in .gitignore, separated by commas; or in files named .akinignore',
  },
  { name: 'prune-all', description: 'Remove documents whose files are gone, however many they are' },
  { name: 'again', description: 'Compare the content of every file, even if its size and times are the same' },
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
  /** The collection whose pictures are needed, under its ids. Default: all pictures that the options select. */
  readonly picturesOf?: Collection;
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
  const { retryable, dataFolder, models, ...rest } = run;
  if (dataFolder !== undefined) await rememberFolders(dataFolder, run.collection.name, options.positionals);
  const isWhole = run.picturesOf === undefined && retryOf === undefined;
  const progress = new Progress(process.stderr);
  const reporter = new RunReporter(run.collection, options.positionals.join(' '), progress, retryOf);
  let report: FolderReport | undefined;
  try {
    if (isWhole) await reportHeic(options.positionals, (line) => progress.printLine(line), run.signal);
    report = await indexFolder({
      ...rest,
      model: await modelOf(run.collection, models),
      candidates: (listener) =>
        candidatesOf(options.positionals, listener, run.signal, {
          exclude: run.picturesOf === undefined ? splitList(options.text('exclude')) : [],
        }),
      labelsFromFolders: run.picturesOf === undefined && options.isOn('labels-from-folders'),
      again: isWhole && options.isOn('again'),
      prune: !isWhole ? 'none' : options.isOn('prune-all') ? 'all' : options.isOn('prune') ? 'usual' : 'none',
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
  return report.refused.length > 0 && options.isOn('prune') ? 2 : exitCode(report);
}
