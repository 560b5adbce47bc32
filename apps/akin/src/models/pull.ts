import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AkinError } from '@akin/domain';
import { hashLargeFile, sha256OfFile } from '@akin/modules/vectors';
import { isRunning } from '@akin/runtime';
import { download, type Progress, throwUnwritable } from './download.ts';
import type { KnownModel } from './known-models.ts';
import { type DownloadRecord, RECORD_FILE, readRecord } from './models-folder.ts';

export type FileProgress = (file: string, ...news: Parameters<Progress>) => void;

export interface Pull {
  readonly model: KnownModel;
  readonly folder: string;
  readonly mirror: string;
  readonly progress: FileProgress;
}

/**
 * Downloads the missing or changed files of a model. The expected hashes come from the list of known models, or else
 * from the record of the first download.
 *
 * @returns how many files were downloaded
 * @throws {AkinError} as `download` does; conflict if another process downloads the model
 */
export async function pull({ model, folder, mirror, progress }: Pull, signal: AbortSignal): Promise<number> {
  const { repository, revision } = model;
  await using _ = await lockFolder(folder);
  // The hashes that an earlier or interrupted download has recorded.
  const of = (record: DownloadRecord | undefined) =>
    record?.revision === revision && record.repository === repository ? record.files : {};
  const known = { ...of(readRecord(folder)), ...of(readRecord(folder, BEGUN_FILE)) };
  const hashes: Record<string, string> = {};
  let downloaded = 0;
  for (const { path: name, sha256: listed } of model.files) {
    const file = path.join(folder, name);
    const sha256 = listed ?? known[name];
    await hashLargeFile(file).catch(() => {});
    if (sha256 !== undefined && existsSync(file) && sha256OfFile(file) === sha256) {
      hashes[name] = sha256;
      continue;
    }
    const url = `${mirror}/${repository}/resolve/${revision}/${name}`;
    const wanted = { url, file, sha256, maxBytes: 2e6 * model.megabytes + SPARE_BYTES };
    hashes[name] = await download(wanted, (...news) => progress(name, ...news), signal);
    downloaded++;
    await writeRecord(folder, BEGUN_FILE, { repository, revision, files: { ...known, ...hashes } });
  }
  await writeRecord(folder, RECORD_FILE, { repository, revision, files: hashes });
  await rm(path.join(folder, BEGUN_FILE), { force: true });
  return downloaded;
}

/** The complete files while others are still missing: they are not downloaded twice. */
const BEGUN_FILE = 'akin-download-begun.json';
const LOCK_FILE = 'akin-download.lock';
/** The sizes in the list are approximate, and settings files are small. */
const SPARE_BYTES = 50e6;

/**
 * Locks the folder, because two processes would write into the same files.
 *
 * @throws {AkinError} conflict: another process has the lock
 */
async function lockFolder(folder: string): Promise<AsyncDisposable> {
  const file = path.join(folder, LOCK_FILE);
  for (;;) {
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
    } catch (error) {
      const isLocked = (error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(file);
      if (!isLocked) {
        // On a full disk it may exist, and be empty.
        await rm(file, { force: true }).catch(() => {});
        throwUnwritable(file, error);
        throw error;
      }
    }
    const holder = await readFile(file, 'utf8').catch(() => undefined);
    if (holder === undefined) continue;
    // A process that has just started has not written its number yet.
    // In a container this process often has the number of the killed one.
    if (holder === '' || (Number(holder) !== process.pid && isRunning(Number(holder)))) {
      throw new AkinError(
        'conflict',
        `Another akin is downloading this model (process ${holder || 'not known yet'}): wait for it. If there is no such process, delete ${file}.`,
      );
    }
    // Its process was killed.
    await rm(file, { force: true });
  }
}

async function writeRecord(folder: string, name: string, record: DownloadRecord): Promise<void> {
  const part = path.join(folder, `${name}.part`);
  try {
    await writeFile(part, `${JSON.stringify(record, null, 2)}\n`);
    await rename(part, path.join(folder, name));
  } catch (error) {
    throwUnwritable(part, error);
    throw error;
  } finally {
    await rm(part, { force: true });
  }
}
