import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { sha256OfFile } from '@akin/modules/vectors';
import { httpAddress } from '../http-address.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';
import { knownModel } from './known-models.ts';

export const MODELS_OPTION: Option = {
  name: 'models',
  valueName: 'folder',
  description: 'Folder of the models that akin models pull downloads',
  default: path.join('~', '.akin', 'models'),
};

export const MIRROR_OPTION: Option = {
  name: 'mirror',
  valueName: 'url',
  description: 'Server to download models from, with the paths of Hugging Face; `off` refuses downloads',
  default: 'https://huggingface.co',
  otherVariables: ['HF_ENDPOINT'],
};

/** The server of `--mirror`; undefined if it is `off`. @throws {UsageError} for other texts than a URL */
export function mirrorUrl(options: ParsedOptions): string | undefined {
  const mirror = options.text('mirror') ?? '';
  return mirror === 'off' ? undefined : httpAddress('mirror', mirror);
}

export function modelsFolder(options: ParsedOptions): string {
  const folder = options.text('models') ?? '';
  return path.resolve(folder.replace(/^~(?=$|[\\/])/, homedir()));
}

/** What was downloaded into the folder of a model: the hash of each file by its path. */
export const RECORD_FILE = 'akin-download.json';

export interface DownloadRecord {
  readonly repository: string;
  readonly revision: string;
  readonly files: Readonly<Record<string, string>>;
}

export function readRecord(folder: string, name = RECORD_FILE): DownloadRecord | undefined {
  const file = path.join(folder, name);
  if (!existsSync(file)) return undefined;
  try {
    // Reading a pipe would block.
    const record = statSync(file).isFile() ? (JSON.parse(readFileSync(file, 'utf8')) as DownloadRecord) : undefined;
    if (record && Object.values(record.files).every((hash) => /^[0-9a-f]{64}$/.test(hash))) return record;
  } catch {
    // The error below applies.
  }
  throw new UsageError(`${file} is damaged: delete ${folder}, and download the model again.`);
}

/**
 * The folder of the content model that a user gave by name or as a folder.
 *
 * @throws {UsageError} for a name whose model is not here, or whose files are not the downloaded ones
 */
export function contentModelFolder(named: string, options: ParsedOptions): string {
  if (!isName(named)) return path.resolve(named);
  const folder = folderOfName(named, modelsFolder(options));
  if (folder !== undefined) {
    checkFiles(folder, named);
    return folder;
  }
  if (knownModel(named)) throw new UsageError(`The model ${named} is not here. Download it: akin models pull ${named}`);
  throw new UsageError(
    `There is no folder ${path.resolve(named)}, and no model with that name. akin models lists the known ones.`,
  );
}

/** The folder of a model that is complete in the folder of models; undefined for another name. */
export function folderOfName(name: string, models: string | undefined): string | undefined {
  if (models === undefined) return undefined;
  const folder = path.join(models, name);
  return isDownloaded(folder) ? folder : undefined;
}

/** The name of the content model on the command line; undefined if there is none, or a folder. */
export function modelNameOf(options: ParsedOptions): string | undefined {
  const named = options.text('content-model');
  return named !== undefined && isName(named) ? named : undefined;
}

function isName(named: string): boolean {
  return !/[\\/]/.test(named) && !existsSync(path.resolve(named));
}

export function downloadedModels(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => isDownloaded(path.join(folder, name)))
    .sort();
}

/** Whether a model was downloaded completely, or a user put it there. */
function isDownloaded(folder: string): boolean {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return false;
  return existsSync(path.join(folder, RECORD_FILE)) || !knownModel(path.basename(folder));
}

/** @throws {UsageError} if a file is not the one that was downloaded */
export function checkFiles(folder: string, name: string): void {
  for (const [file, hash] of Object.entries(readRecord(folder)?.files ?? {})) {
    if (existsSync(path.join(folder, file)) && sha256OfFile(path.join(folder, file)) === hash) continue;
    throw new UsageError(
      `${path.join(folder, file)} is not the file that was downloaded. Download it again: akin models pull ${name}`,
    );
  }
}
