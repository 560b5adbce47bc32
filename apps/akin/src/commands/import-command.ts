import { stat } from 'node:fs/promises';
import { AkinRequestError, type Collection } from '@akin/client';
import { Import, StrictError } from '../bulk/import-documents.ts';
import { findServer, isLocal, outageOption, SERVER_OPTIONS } from '../bulk/options.ts';
import { type Progress, ProgressFile } from '../bulk/progress-file.ts';
import { bulkProgressLine } from '../bulk/progress-line.ts';
import { Rejects } from '../bulk/rejects.ts';
import { RepeatedIds } from '../bulk/repeated-ids.ts';
import { retryTransient } from '../bulk/retry-transient.ts';
import { doubtLines, fitToSchema, openLocalPictures, readTable, TABLE_OPTIONS } from '../bulk/table-options.ts';
import { ensureCollection } from '../ensure-collection.ts';
import { type ParsedOptions, UsageError } from '../options.ts';
import type { CommandModule } from '../program.ts';
import { ANALYSIS_OPTIONS } from './analysis-options.ts';

const NO_PROGRESS: Progress = {
  start: { lines: 0, bytes: 0 },
  accepted: 0,
  rejected: 0,
  followed: [],
  ranges: [],
  newest: { seq: 0, token: '' },
};

export const importCommand: CommandModule = {
  command: {
    name: 'import',
    usage: 'import <file.ndjson[.gz]|file.csv[.gz]|file.parquet|->',
    description:
      'Sends documents to a running akin: one JSON object per line, one JSON array, CSV with the names of the fields in its first row (all of them plain or gzip), or a Parquet file. The pictures of a table may be files of this machine. If it is stopped, run the same command to continue: <file>.progress says where. <file>.rejects.ndjson lists each refused document with its line and the reason. Exit code 0: all documents are stored and visible; 2: some were refused; 1: akin stopped accepting documents; 130: stopped.',
    options: [
      ...SERVER_OPTIONS,
      ...TABLE_OPTIONS,
      {
        name: 'from',
        valueName: 'line',
        description: 'Start at this line (the first is 1), and ignore the progress of an earlier run',
      },
      { name: 'strict', description: 'Stop at the first document that akin refuses' },
      { name: 'rejects', valueName: 'file', description: 'File for refused documents' },
      { name: 'modules', valueName: 'names', description: 'Modules that analyze the pictures, separated by commas' },
      { name: 'parallel', valueName: 'number', description: 'Maximum number of concurrent requests', default: '4' },
      outageOption(600),
      { name: 'no-wait', description: 'Do not wait until the documents are visible' },
      ...ANALYSIS_OPTIONS,
    ],
  },

  async run(options, signal) {
    const [file, ...more] = options.positionals;
    if (file === undefined || more.length > 0) throw new UsageError('Name one file, or - for standard input.');
    const size = file === '-' ? undefined : await sizeOf(file);
    const table = await readTable(file, options, size !== undefined, signal).catch((error: unknown) => {
      throw readError(file, error);
    });
    const server = await findServer(options);
    const progressFile =
      size === undefined ? undefined : await ProgressFile.nextTo(file, server.url, server.name).catch(() => undefined);
    const maxOutageMilliseconds = options.number('max-outage') * 1_000;
    const previousProgress = await startOf(options, progressFile, (progress) =>
      retryTransient(
        () => isOf(server.client.collection(server.name), progress, signal),
        maxOutageMilliseconds,
        signal,
      ),
    );
    if (previousProgress.start.lines > 0) process.stderr.write(`Starts at line ${previousProgress.start.lines + 1}.\n`);
    const rejectsFile = options.text('rejects') ?? `${size === undefined ? 'import' : file}.rejects.ndjson`;
    if (await isSameFile(file, rejectsFile)) throw new UsageError('--rejects names the input: choose another file.');
    const isShared = size === undefined && options.text('rejects') === undefined;
    const rejects = await Rejects.open(rejectsFile, previousProgress !== NO_PROGRESS, isShared);
    const collection = await ensureCollection(server.client, server.name);
    const schema = await retryTransient(() => collection.schema(), maxOutageMilliseconds, signal);
    await using local = await openLocalPictures(file, table.cells, server, schema, options);
    const repeated = table.isTable ? new RepeatedIds() : undefined;
    const fields = fitToSchema(table, schema, options);
    for (const text of doubtLines(table, fields)) process.stderr.write(`${text}\n`);
    const run = new Import({
      file,
      previousProgress,
      progressFile,
      rejects,
      collection,
      repeated,
      ...table,
      fields,
      pictures: local.pictures,
      parallel: Math.min(16, Math.max(1, options.number('parallel'))),
      compress: !isLocal(server.url),
      modules: options.text('modules'),
      strict: options.isOn('strict'),
      maxOutageMilliseconds,
      signal,
    });
    let note = '';
    const line = bulkProgressLine(process.stderr, () => ({
      documents: run.state.accepted,
      failed: previousProgress.rejected + rejects.count,
      share: size && run.state.bytes > 0 ? Math.min(1, run.state.bytes / size) : undefined,
      note: note || (run.waiting > 0 ? `${run.waiting} wait for pictures` : ''),
    }));
    const ended = async (code: number, message: string) => {
      line.finish();
      await rejects.close();
      const more = [...(repeated?.summary() ?? []), ...failureLines(rejects, previousProgress)];
      process.stdout.write(`${[message, ...more].join('\n')}\n`);
      return code;
    };
    try {
      await run.send();
      const acceptedSeconds = line.seconds;
      if (!options.isOn('no-wait')) {
        note = 'waits until all is visible';
        await run.publish();
      }
      await progressFile?.remove();
      const failed = previousProgress.rejected + rejects.count;
      return await ended(
        failed > 0 ? 2 : 0,
        report(run.state.accepted, previousProgress, acceptedSeconds, line.seconds, options),
      );
    } catch (error) {
      const isContinued = progressFile ? ' Run the same command again to continue.' : '';
      if (signal.aborted) return await ended(130, `Stopped: ${run.state.accepted} accepted.${isContinued}`);
      if (error instanceof StrictError) return await ended(2, `${error.message} Later documents were not sent.`);
      if (!(error instanceof AkinRequestError)) throw readError(file, error);
      return await ended(1, `${error.message} ${run.state.accepted} were accepted.${isContinued}`);
    }
  },
};

function readError(file: string, error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall === 'open' || syscall === 'read' ? new UsageError(`${file} cannot be read: ${message}`) : error;
}

/**
 * @returns undefined if it is not a file, for example a pipe: then there is no progress file, and no run can continue
 */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await stat(file).catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`);
  });
  if (found.isDirectory()) throw new UsageError(`${file} is a folder. Use akin index for a folder of pictures.`);
  if (!found.isFile()) return undefined;
  // The unpacked length of a compressed file is unknown.
  return file.endsWith('.gz') ? 0 : found.size;
}

async function startOf(
  options: ParsedOptions,
  progressFile: ProgressFile | undefined,
  isValid: (progress: Progress) => Promise<boolean>,
): Promise<Progress> {
  if (options.text('from') === undefined) {
    const progress = await progressFile?.read();
    if (progress === undefined || (await isValid(progress))) return progress ?? NO_PROGRESS;
    process.stderr.write('The collection was replaced after the earlier run. Starts at the beginning.\n');
    return NO_PROGRESS;
  }
  const from = options.number('from');
  if (from < 1) throw new UsageError('--from must be at least 1.');
  return { ...NO_PROGRESS, start: { lines: from - 1, bytes: 0 } };
}

/** Whether an earlier run filled this collection, and not one that had its name before. */
async function isOf(collection: Collection, { newest }: Progress, signal: AbortSignal): Promise<boolean> {
  if (newest.token === '') return true;
  try {
    await collection.select({ rows: 0, after: newest.token, afterTimeout: 0 }, { signal });
    return true;
  } catch (error) {
    if (!(error instanceof AkinRequestError) || ![400, 404, 503].includes(error.status)) throw error;
    // 503: its documents are not visible yet.
    return error.status === 503;
  }
}

function report(
  accepted: number,
  before: Progress,
  acceptedIn: number,
  visibleIn: number,
  options: ParsedOptions,
): string {
  const now = accepted - before.accepted;
  const rate = (seconds: number) => `${seconds.toFixed(1)} s, ${(now / Math.max(0.001, seconds)).toFixed(0)}/s`;
  const earlier = before.accepted > 0 ? `, ${before.accepted} of them by earlier runs` : '';
  const visible = options.isOn('no-wait') ? '' : `; visible after ${rate(visibleIn)}`;
  return `${accepted} accepted${earlier} (${rate(acceptedIn)})${visible}.`;
}

function failureLines(rejects: Rejects, before: Progress): string[] {
  const failed = before.rejected + rejects.count;
  if (failed === 0) return [];
  return [`${failed} failed: ${rejects.file} contains their lines and the reasons.`, ...rejects.summary()];
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((file) => stat(file).catch(() => undefined)));
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev;
}
