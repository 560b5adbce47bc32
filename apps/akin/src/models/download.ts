import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AkinError, badRequest } from '@akin/domain';
import { hashLargeFile, sha256OfFile } from '@akin/modules/vectors';
import { sleep } from '@akin/runtime';

export interface FileDownload {
  readonly url: string;
  readonly file: string;
  /** Undefined for the first download of a file whose hash is not known. */
  readonly sha256: string | undefined;
  /** More bytes are refused: otherwise a server that never stops could fill the disk. Default: no limit. */
  readonly maxBytes?: number;
}

/** Gets the number of bytes so far and the total, which is undefined if the server does not say it. */
export type Progress = (bytes: number, all: number | undefined) => void;

/** A connection that sends nothing for this time is closed, and the download is tried again. */
const SILENT_MILLISECONDS = 60_000;
/** After this many attempts in a row without a new byte, the download fails. */
const MAX_FAILURES = 4;

/**
 * Downloads a file, or the rest of it after an interrupted run, and moves it into place if its hash is right.
 *
 * @param pause Milliseconds before another attempt, multiplied by the number of failed ones.
 * @returns its SHA-256
 * @throws {AkinError} if the server refuses, does not answer, or sends another file; the signal's reason
 */
export async function download(
  wanted: FileDownload,
  progress: Progress,
  signal: AbortSignal,
  pause = 1_000,
): Promise<string> {
  const { url, file, sha256, maxBytes = Number.POSITIVE_INFINITY } = wanted;
  const part = `${file}.part`;
  await mkdir(path.dirname(file), { recursive: true }).catch((error) => {
    throwUnwritable(file, error);
    throw error;
  });
  for (let failures = 0; ; ) {
    const before = await sizeOf(part);
    try {
      await receive(url, part, before, maxBytes, progress, signal);
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AkinError && error.code === 'too-large') await rm(part, { force: true });
      if (error instanceof AkinError) throw error;
      throwUnwritable(part, error);
      failures = (await sizeOf(part)) > before ? 1 : failures + 1;
      if (failures >= MAX_FAILURES) {
        throw new AkinError(
          'unavailable',
          `The download of ${url} was interrupted. Run the command again to continue. If this machine has no internet access, give a mirror with --mirror.`,
          { cause: error },
        );
      }
      await sleep(pause * failures, signal);
    }
  }
  const other = await otherFileOf(part);
  if (other !== undefined) {
    await rm(part);
    throw new AkinError(
      'conflict',
      `${url} is not the expected file but ${other}. Check --mirror, and whether this network requires a login.`,
    );
  }
  await hashLargeFile(part);
  const hash = sha256OfFile(part);
  if (sha256 !== undefined && hash !== sha256) {
    await rm(part);
    throw new AkinError(
      'conflict',
      `${url} is not the expected file: its SHA-256 is ${hash} instead of ${sha256}. The download was deleted.`,
    );
  }
  await rename(part, file);
  return hash;
}

/** @throws {AkinError} conflict if a file cannot be written, which no retry can repair */
export function throwUnwritable(file: string, error: unknown): void {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (!['ENOSPC', 'EACCES', 'EPERM', 'EROFS', 'EDQUOT', 'ENOTDIR', 'EISDIR', 'EEXIST'].includes(code)) return;
  throw new AkinError(
    'conflict',
    `${file} cannot be written (${code}). Free some space, or choose another folder with --models. Then run the command again to continue.`,
    { cause: error },
  );
}

const OTHERS: readonly [RegExp, string][] = [
  [/^\s*</, 'a page of a website'],
  [/^version https:\/\/git-lfs/, 'a pointer of Git LFS'],
];

/** @returns what the server sent instead of the file; undefined if it seems to be the file */
async function otherFileOf(file: string): Promise<string | undefined> {
  await using opened = await open(file);
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(64), 0, 64, 0);
  if (bytesRead === 0) return 'an empty file';
  const start = buffer.toString('latin1', 0, bytesRead);
  return OTHERS.find(([pattern]) => pattern.test(start))?.[1];
}

async function receive(
  url: string,
  part: string,
  from: number,
  maxBytes: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(new Error('the server sends nothing')), SILENT_MILLISECONDS);
  try {
    const response = await fetch(url, {
      headers: { 'accept-encoding': 'identity', ...(from > 0 ? { range: `bytes=${from}-` } : {}) },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    const rest = response.status === 206 && from > 0;
    if (response.status === 416 || (rest && !response.headers.get('content-range')?.startsWith(`bytes ${from}-`))) {
      // If the file is complete, there is nothing left to send. Otherwise the server sent another part: start again.
      if (response.headers.get('content-range') === `bytes */${from}`) return void (await response.body?.cancel());
      await response.body?.cancel();
      await rm(part, { force: true });
      throw new Error('the server does not continue');
    }
    if (response.status >= 500 || response.status === 429) throw new Error(`it answers ${response.status}`);
    if (!response.ok || response.body === null) {
      throw badRequest(`${url} answers ${response.status}. Check --mirror.`);
    }
    let bytes = rest ? from : 0;
    const length = Number(response.headers.get('content-length') ?? Number.NaN);
    const all = Number.isNaN(length) || response.headers.has('content-encoding') ? undefined : bytes + length;
    const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        timer.refresh();
        bytes += chunk.length;
        if (bytes > maxBytes) {
          throw new AkinError(
            'too-large',
            `${url} sends more than ${Math.ceil(maxBytes / 1e6)} MB, which is the limit. Check --mirror.`,
          );
        }
        progress(bytes, all);
        yield chunk;
      }
    };
    await pipeline(response.body, counted, createWriteStream(part, { flags: rest ? 'a' : 'w' }), { signal });
    if (all !== undefined && bytes !== all) throw new Error(`it ended after ${bytes} of ${all} bytes`);
  } finally {
    clearTimeout(timer);
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
