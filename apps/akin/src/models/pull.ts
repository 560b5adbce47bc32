import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sha256OfFile } from '@akin/modules/vectors';
import { download, type Progress } from './download.ts';
import type { KnownModel } from './known-models.ts';
import { type DownloadRecord, RECORD_FILE, readRecord } from './models-folder.ts';

/** Hears of each file that is downloaded. */
export type FileProgress = (file: string, ...news: Parameters<Progress>) => void;

export interface Pull {
  readonly model: KnownModel;
  /** Where the model goes. */
  readonly folder: string;
  /** The server, without a slash at its end. */
  readonly mirror: string;
  readonly progress: FileProgress;
}

/**
 * Downloads what is missing of a model, or was changed. The hashes are those of the list, else those of the first
 * download, which are written down.
 *
 * @returns how many files were downloaded
 * @throws {AkinError} as `download` does
 */
export async function pull({ model, folder, mirror, progress }: Pull, signal: AbortSignal): Promise<number> {
  const { repository, revision } = model;
  const earlier = readRecord(folder);
  const known = earlier?.revision === revision && earlier.repository === repository ? earlier.files : {};
  const hashes: Record<string, string> = {};
  let downloaded = 0;
  for (const { path: name, sha256: listed } of model.files) {
    const file = path.join(folder, name);
    const sha256 = listed ?? known[name];
    if (sha256 !== undefined && existsSync(file) && sha256OfFile(file) === sha256) {
      hashes[name] = sha256;
      continue;
    }
    const url = `${mirror}/${repository}/resolve/${revision}/${name}`;
    hashes[name] = await download({ url, file, sha256 }, (...news) => progress(name, ...news), signal);
    downloaded++;
  }
  await writeRecord(folder, { repository, revision, files: hashes });
  return downloaded;
}

async function writeRecord(folder: string, record: DownloadRecord): Promise<void> {
  await mkdir(folder, { recursive: true });
  const part = path.join(folder, `${RECORD_FILE}.part`);
  try {
    await writeFile(part, `${JSON.stringify(record, null, 2)}\n`);
    await rename(part, path.join(folder, RECORD_FILE));
  } finally {
    await rm(part, { force: true });
  }
}
