import path from 'node:path';
import type { Collection, CollectionSummary } from '@akin/client';
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
import { RunReporter, settleFailures } from './run-reporter.ts';

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
  /** Gets the files that fail, with their states: {@link runAfterChanges} skips them until they change. */
  readonly failed?: Map<string, string>;
  /** Gets what is not there after each run: {@link runAfterChanges} reports it only once. */
  readonly absent?: Set<string>;
}

/**
 * Indexes the folders, globs or, for `-`, the paths on standard input that the command line names, and prints a report.
 * Returns the exit code.
 */
export function runFolders(options: ParsedOptions, run: FoldersRun): Promise<number> {
  return runOnce(options, run, undefined);
}

/** Indexes the same again after changes. A run in which nothing is to be done is neither printed nor shown. */
export async function runAfterChanges(options: ParsedOptions, run: FoldersRun): Promise<void> {
  const again = () => runOnce(options, run, undefined, true);
  await (run.retryable === undefined ? again() : run.retryable.inTurn(again));
}

/**
 * The content model of the collection, if it is on this machine. Otherwise akin refuses the outputs, and names both
 * models.
 */
export async function modelOf(
  models: ContentModels,
  { model }: Pick<CollectionSummary, 'model'>,
): Promise<string | undefined> {
  const id = model && `${model.name}:${model.hash}`;
  return id !== undefined && (await models.has(id)) ? id : undefined;
}

/**
 * @param retryOf the run to repeat: files that did not fail in it are skipped
 * @param isAfterChanges see {@link runAfterChanges}
 */
async function runOnce(
  options: ParsedOptions,
  run: FoldersRun,
  retryOf: string | undefined,
  isAfterChanges = false,
): Promise<number> {
  const { retryable, dataFolder, models, failed = new Map<string, string>(), absent: before, ...rest } = run;
  if (dataFolder !== undefined) await rememberFolders(dataFolder, run.collection.name, options.positionals);
  const isWhole = run.picturesOf === undefined && retryOf === undefined && !isAfterChanges;
  const progress = new Progress(process.stderr, isAfterChanges);
  const reporter = new RunReporter(run.collection, options.positionals.join(' '), progress, retryOf);
  const states = new Map<string, string>();
  const absent = new Set<string>();
  const addAbsent = (file: string) => {
    absent.add(file);
    if (!isAfterChanges || !before?.has(file)) progress.absent.add(file);
  };
  let report: FolderReport | undefined;
  try {
    if (isWhole) await reportHeic(options.positionals, (line) => progress.printLine(line), run.signal);
    const status = await run.collection.status();
    report = await indexFolder({
      ...rest,
      model: await modelOf(models, status),
      modules: status.modules,
      async *candidates(listener) {
        const exclude = run.picturesOf === undefined ? splitList(options.text('exclude')) : [];
        const onProblem = (file: string, reason: string) => {
          if (!isAfterChanges || failed.get(file) !== '') listener.onProblem(file, reason);
        };
        const onAbsent = (file: string) => {
          addAbsent(file);
          listener.onAbsent(file);
        };
        const quiet = { ...listener, onProblem, onAbsent };
        for await (const candidate of candidatesOf(options.positionals, quiet, run.signal, { exclude })) {
          const { file, bytes, modified, changed } = candidate;
          const state = `${bytes} ${modified} ${changed}`;
          if (isAfterChanges && failed.get(file) === state) continue;
          states.set(file, state);
          yield candidate;
        }
      },
      labelsFromFolders: run.picturesOf === undefined && options.isOn('labels-from-folders'),
      again: isWhole && options.isOn('again'),
      prune: !isWhole ? 'none' : options.isOn('prune-all') ? 'all' : options.isOn('prune') ? 'usual' : 'none',
      restoreDeleted: isWhole && options.isOn('restore-deleted'),
      progress,
    });
    // An empty folder may be where a drive is mounted.
    for (const { folder, gone, known } of report.refused) if (gone === known) addAbsent(folder);
  } finally {
    progress.finish();
    const isRetryable = report !== undefined && report.failures.length > 0 && !options.positionals.includes('-');
    if (isRetryable) retryable?.offer(reporter.id, () => runOnce(options, run, reporter.id));
    await reporter.finish(report === undefined ? 'failed' : report.stopped ? 'stopped' : 'done');
  }
  for (const file of states.keys()) failed.delete(file);
  const untried = new Set(failed.keys());
  if (!report.stopped) await settleReports(options.positionals, run, reporter.id, absent, untried);
  for (const { file } of report.failures) failed.set(file, states.get(file) ?? '');
  if (progress.isQuiet) return 0;
  process.stdout.write(`${reportText(report)}\n`);
  return report.refused.length > 0 && options.isOn('prune') ? 2 : exitCode(report);
}

async function settleReports(
  words: readonly string[],
  run: FoldersRun,
  id: string,
  absent: ReadonlySet<string>,
  untried: ReadonlySet<string>,
): Promise<void> {
  run.absent?.clear();
  for (const one of absent) run.absent?.add(one);
  const folders = words.filter((word) => word !== '-').map((word) => path.resolve(word));
  const isWalked = (file: string) => folders.some((one) => file === one || file.startsWith(`${one}${path.sep}`));
  const isSettled = (file: string) => isWalked(file) && !absent.has(file) && !untried.has(file);
  // Nothing depends on it.
  await settleFailures(run.collection, id, isSettled).catch(() => {});
}
