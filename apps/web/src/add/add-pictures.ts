import { AkinRequestError, type Collection, type RunFailure, type RunReport, titleOfFile } from '@akin/client';
import { TEXTS } from '../texts.ts';
import type { LocalFile } from './files.ts';

/** Pictures sent in parallel: some are uploaded while others are analyzed. */
const MAX_PARALLEL = 4;
/** Interval of progress reports. After a minute without a report, akin considers the run stopped. */
const REPORT_MILLISECONDS = 1_000;
const MAX_FAILURES = 1_000;
/** Maximum attempts to send a picture while akin is busy or unavailable; the pause grows each time. */
const MAX_ATTEMPTS = 6;
/** Refusals of the key or the collection rather than of one picture. 507: there is no room for more. */
const FATAL_STATUSES: readonly number[] = [401, 403, 404, 507];

interface Run {
  readonly id: string;
  readonly source: string;
  readonly startedAt: number;
  readonly total: number;
  done: number;
  failed: number;
  readonly failures: RunFailure[];
  readonly failedFiles: LocalFile[];
}

/** Failed files of this page's runs, by the id of the run. They can be retried while the page is open. */
const failedFiles = new Map<string, readonly LocalFile[]>();

export function failedFilesOf(run: string): readonly LocalFile[] | undefined {
  return failedFiles.get(run);
}

/**
 * Sends files to be analyzed and stored; the id of each document is the path of its file. It is reported as a run, like
 * the import of a folder, and so has the same progress bar and list of failures. A file that fails does not stop the
 * others.
 *
 * @param began called with the id of the run when akin knows it
 * @throws {AkinRequestError} when akin rejects all of them, for example because the key is invalid or the collection is
 * missing
 */
export async function addPictures(
  collection: Collection,
  files: readonly LocalFile[],
  began: (run: string) => void = () => {},
): Promise<void> {
  const source = sourceOf(files);
  const id = newId();
  const run: Run = {
    id,
    source,
    startedAt: Date.now(),
    total: files.length,
    done: 0,
    failed: 0,
    failures: [],
    failedFiles: [],
  };
  // Fails before anything is sent if the key is not sufficient.
  await collection.reportRun(id, reportOf(run, 'running'));
  began(id);
  let reported: Promise<unknown> = Promise.resolve();
  const reporting = setInterval(() => {
    reported = collection.reportRun(id, reportOf(run, 'running')).catch(() => {});
  }, REPORT_MILLISECONDS);
  warnOfLeaving(1);
  const waiting = [...files].reverse();
  const work = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const error = await addOne(collection, one, run);
      if (!(error instanceof AkinRequestError) || !FATAL_STATUSES.includes(error.status)) continue;
      // The others would be refused, too. They can be retried.
      run.failedFiles.push(...waiting.splice(0));
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: MAX_PARALLEL }, work));
  // Also after a refusal: what was added before becomes visible.
  const [committed] = await Promise.allSettled([collection.commit()]);
  const refused = [...ends, committed].find((end) => end.status === 'rejected');
  clearInterval(reporting);
  warnOfLeaving(-1);
  failedFiles.set(id, run.failedFiles);
  // A report that arrives after the last one would say that the run goes on.
  await reported;
  const last = collection.reportRun(id, reportOf(run, refused ? 'failed' : 'done'));
  if (refused === undefined) await last;
  else {
    await last.catch(() => {});
    throw refused.reason;
  }
}

/** Not `crypto.randomUUID`, which browsers lack for pages that come over http from another computer. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

let running = 0;

/**
 * The browser warns before the page is closed while pictures are sent.
 * @param change 1 when a run begins, -1 after it
 */
function warnOfLeaving(change: 1 | -1): void {
  running += change;
  if (running > 0) addEventListener('beforeunload', confirmLeave);
  else removeEventListener('beforeunload', confirmLeave);
}

function confirmLeave(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

/** @returns why the picture could not be added; undefined if it was */
async function addOne(collection: Collection, { path, file }: LocalFile, run: Run): Promise<unknown> {
  const document = {
    id: path,
    title: titleOfFile(path),
    bytes: file.size,
    modified: new Date(file.lastModified).toISOString(),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await collection.addPicture(document, file, { fields: true });
      run.done += 1;
      return undefined;
    } catch (error) {
      if (isTransient(error) && attempt < MAX_ATTEMPTS) {
        await new Promise((resolve) => setTimeout(resolve, (error.retryAfterSeconds ?? attempt) * 1_000));
        continue;
      }
      run.failed += 1;
      run.failedFiles.push({ path, file });
      if (run.failures.length < MAX_FAILURES) run.failures.push(failureOf(path, error));
      return error;
    }
  }
}

function isTransient(error: unknown): error is AkinRequestError {
  return error instanceof AkinRequestError && [0, 429, 503].includes(error.status);
}

const CODES: Readonly<Record<number, string>> = {
  413: 'too-large',
  415: 'unsupported-image',
  422: 'image-undecodable',
};

function failureOf(path: string, error: unknown): RunFailure {
  if (!(error instanceof AkinRequestError)) return { path, code: 'unreadable', msg: String(error).slice(0, 1_000) };
  const code = CODES[error.status] ?? (error.status === 0 || error.status === 503 ? 'unavailable' : 'bad-request');
  return { path, code, msg: error.message.slice(0, 1_000) };
}

function reportOf({ source, startedAt, total, done, failed, failures }: Run, state: RunReport['state']): RunReport {
  const seconds = (Date.now() - startedAt) / 1_000;
  const worked = done + failed;
  const left = state === 'running' && worked > 0 ? Math.round(((total - worked) * seconds) / worked) : null;
  return { source, state, total, done, unchanged: 0, failed, secondsLeft: left, failures };
}

function sourceOf(files: readonly LocalFile[]): string {
  const folders = new Set(files.map(({ path }) => (path.includes('/') ? path.split('/')[0] : '')));
  const [only = ''] = folders;
  return folders.size === 1 && only !== '' ? only : TEXTS.add.source(files.length);
}
