import { promises as fs } from 'node:fs';
import path from 'node:path';
import { AkinError, badRequest, quote } from '@akin/domain';
import type { Analyzer } from '@akin/modules/analyze';
import { analyzeFile } from '../folder/analyze-file.ts';
import { placeOfFile } from '../folder/file-document.ts';
import { isGone, reasonOf } from '../folder/walk.ts';
import { UsageError } from '../options.ts';

/** Pictures below one folder, which a table names by their paths. */
export interface LocalPictures {
  /** Number of pictures that are worth to begin before the first of them is finished. */
  readonly ahead: number;
  /**
   * @param name its path, relative to the folder or absolute
   * @throws AkinError that names the path: also if it leads out of the folder
   */
  analyze(name: string, signal: AbortSignal): Promise<AnalyzedPicture>;
}

interface AnalyzedPicture {
  /** Members of its document. */
  readonly outputs: { readonly import: string; readonly thumbnail?: string };
  /** As `akin index` writes it, if akin shows the files of the folder. */
  readonly file: ReturnType<typeof placeOfFile> | undefined;
}

/** @returns the real path @throws {UsageError} if there is no such folder */
export async function findPictures(folder: string): Promise<string> {
  const root = await fs.realpath(folder).catch((error: unknown) => {
    throw new UsageError(`--pictures ${folder}: ${reasonOf(error)}.`);
  });
  if (!(await fs.stat(root)).isDirectory()) throw new UsageError(`--pictures ${folder}: it is not a folder.`);
  return root;
}

/**
 * @param isShown whether akin may show the files of the folder
 * @throws {UsageError} if there is no such folder
 */
export async function openPictures(
  folder: string,
  {
    analyzer,
    isShown,
    ...options
  }: { analyzer: Analyzer; isShown: boolean; threads: number; model: string | undefined; modules: readonly string[] },
): Promise<LocalPictures> {
  const root = await findPictures(folder);
  const source = path.resolve(folder);
  return {
    // Twice the threads: the next picture is read from disk while others are analyzed.
    ahead: options.threads * 2,
    async analyze(name, signal) {
      try {
        const file = await findFile(root, source, name);
        const stat = await fs.stat(file);
        // A pipe or a device may never end.
        if (!stat.isFile()) throw badRequest('it is not a file');
        const { analysis, hash } = await analyzeFile(
          analyzer,
          { file, bytes: stat.size },
          { ...options, thumbnail: true, signal },
        );
        const { outputs, thumbnail } = analysis;
        const webp = thumbnail && Buffer.from(thumbnail).toString('base64');
        const below = path.relative(root, file).replaceAll(path.sep, '/');
        return {
          outputs: { import: outputs, ...(webp === undefined ? {} : { thumbnail: webp }) },
          file: isShown ? placeOfFile({ source, path: below, bytes: stat.size }, hash) : undefined,
        };
      } catch (error) {
        signal.throwIfAborted();
        const code = error instanceof AkinError ? error.code : 'bad-request';
        throw new AkinError(code, `The picture ${quote(name)}: ${reasonOf(error)}`, { cause: error });
      }
    },
  };
}

/**
 * The real path of a file below the folder. Accents in the name may be composed or not.
 *
 * @param root the real path of the folder
 * @throws AkinError if it is outside, also by a link; Error of the system
 */
async function findFile(root: string, folder: string, name: string): Promise<string> {
  let missing: unknown;
  for (const form of new Set([name, name.normalize('NFC'), name.normalize('NFD')])) {
    const file = path.resolve(folder, form);
    if (!isInside(folder, file) && !isInside(root, file)) throw outside(folder);
    try {
      const real = await fs.realpath(file);
      if (isInside(root, real)) return real;
    } catch (error) {
      if (!isGone(error)) throw error;
      missing ??= error;
      continue;
    }
    throw outside(folder);
  }
  throw missing;
}

function outside(folder: string): AkinError {
  return badRequest(`it is outside of ${folder}: name a folder that contains it with --pictures`);
}

function isInside(folder: string, file: string): boolean {
  const below = path.relative(folder, file);
  return below !== '' && below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
}
