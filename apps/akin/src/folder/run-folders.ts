import type { Collection } from '@akin/client';
import type { Analyzer } from '@akin/modules/analyze';
import type { ContentModels } from '../models/content-models.ts';
import type { Option, Parsed } from '../options.ts';
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
  { name: 'collection', value: 'name', about: 'Collection that takes the pictures', default: 'my-collection' },
  { name: 'labels-from-folders', about: 'Give each picture the names of its folders as labels' },
  { name: 'prune', about: 'Remove documents whose file is gone from the folder' },
  {
    name: 'restore-deleted',
    about: 'Bring back documents that were deleted on purpose; their files are left out otherwise',
  },
];

export interface FoldersRun {
  readonly collection: Collection;
  readonly analyzer: Analyzer;
  /** Those that the analyzer has. */
  readonly models: ContentModels;
  readonly threads: number;
  readonly signal: AbortSignal;
  /** The ids of the pictures whose outputs alone are wanted; all pictures, as the options have it, when not given. */
  readonly only?: Set<string>;
  /** Of the akin that gets the pictures, if it is on this machine: it may show the files of the folders. */
  readonly dataFolder?: string;
  /** Takes the run, so that what failed can be tried again. */
  readonly retryable?: RetryableRuns;
}

/**
 * Indexes the folders, globs or, for `-`, the paths on standard input that the command line names, and prints a report.
 * Gives the exit code.
 */
export function runFolders(options: Parsed, run: FoldersRun): Promise<number> {
  return runOnce(options, run, undefined);
}

/** The content model of the collection, if it is here: else akin refuses what comes, and names both models. */
export async function modelOf(collection: Collection, models: ContentModels): Promise<string | undefined> {
  const { model } = await collection.status();
  const id = model && `${model.name}:${model.hash}`;
  return id !== undefined && (await models.has(id)) ? id : undefined;
}

/** @param retryOf the run that is tried again: what did not fail in it is left as it is */
async function runOnce(options: Parsed, run: FoldersRun, retryOf: string | undefined): Promise<number> {
  const { only, retryable, dataFolder, models, ...rest } = run;
  if (dataFolder !== undefined) await rememberFolders(dataFolder, options.words);
  const isWhole = only === undefined && retryOf === undefined;
  const progress = new Progress(process.stderr);
  const reporter = new RunReporter(run.collection, options.words.join(' '), progress, retryOf);
  let report: FolderReport | undefined;
  try {
    if (isWhole) await reportHeic(options.words, (line) => progress.say(line), run.signal);
    report = await indexFolder({
      ...rest,
      model: await modelOf(run.collection, models),
      async *candidates(listener) {
        for await (const candidate of candidatesOf(options.words, listener, run.signal)) {
          if (only === undefined || only.has(candidate.id)) yield candidate;
        }
      },
      labelsFromFolders: only === undefined && options.on('labels-from-folders'),
      prune: isWhole && options.on('prune'),
      restoreDeleted: isWhole && options.on('restore-deleted'),
      progress,
    });
  } finally {
    progress.finish();
    const isRetryable = report !== undefined && report.failures.length > 0 && !options.words.includes('-');
    if (isRetryable) retryable?.offer(reporter.id, () => runOnce(options, run, reporter.id));
    await reporter.finish(report === undefined ? 'failed' : report.stopped ? 'stopped' : 'done');
  }
  process.stdout.write(`${reportText(report)}\n`);
  return exitCode(report);
}
