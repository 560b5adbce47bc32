import { promises as fs, constants as fsConstants, type Stats } from 'node:fs';
import path from 'node:path';
import { AkinError } from '@akin/domain';
import type { Original, Originals } from '@akin/gateway';
import { convertToWebp, decodingBytes, formatBytes, OWN_IMAGE_LIMITS, sniffImage } from '@akin/imaging';
import type { Analyzer } from '@akin/modules/analyze';
import type { FilePlace } from '@akin/store/search';
import { analyzeFile } from '../folder/analyze-file.ts';
import { hashOfHandle } from '../folder/file-hash.ts';
import { forgetFolders, indexedFolders } from './indexed-folders.ts';

/** The longer side of a picture that is converted for a browser. */
const SHOWN_SIDE = 2_560;
const HEAD_BYTES = 4_096;

/** Finds files of documents in the folders that were indexed from this data folder into their collection. */
export function originalsOf(dataFolder: string, analyzer: Pick<Analyzer, 'analyze' | 'files' | 'decoding'>): Originals {
  return {
    async open({ collection, source, path: below, bytes, hash }) {
      const folders = await indexedFolders(dataFolder, collection);
      if (!folders.includes(source)) return undefined;
      const file = await findFile(source, below, folders);
      return file === undefined ? undefined : openFile(file, { bytes, hash }, analyzer);
    },
    forget: (collection) => forgetFolders(dataFolder, collection),
  };
}

/**
 * The real path of a file, if it is inside one of the folders after all links are resolved, and neither it nor what a
 * link leads to is hidden.
 */
async function findFile(source: string, below: string, folders: readonly string[]): Promise<string | undefined> {
  if (below.includes('\0') || isHidden(below, '/')) return undefined;
  const file = await realPath(path.join(source, below));
  if (file === undefined) return undefined;
  const roots = await Promise.all(folders.map(realPath));
  return roots.some((root) => root !== undefined && isSeenBelow(root, file)) ? file : undefined;
}

function isHidden(file: string, separator: string): boolean {
  return file.split(separator).some((part) => part.startsWith('.'));
}

function realPath(file: string): Promise<string | undefined> {
  return fs.realpath(file).catch(() => undefined);
}

/** Also false for a file outside: its relative path begins with `..`. */
function isSeenBelow(folder: string, file: string): boolean {
  const below = path.relative(folder, file);
  return below !== '' && !path.isAbsolute(below) && !isHidden(below, path.sep);
}

/** @throws AkinError not-found if it contains something else; unsupported-image if it is no picture */
async function openFile(
  file: string,
  expected: Pick<FilePlace, 'bytes' | 'hash'>,
  analyzer: Parameters<typeof originalsOf>[1],
): Promise<Original | undefined> {
  const found = await readHead(file);
  if (found === undefined) return undefined;
  const { stat, head, hash } = found;
  if (stat.size !== expected.bytes || hash !== expected.hash) {
    const msg = 'The original changed since it was indexed, or another file has its path now: index its folder again.';
    throw new AkinError('not-found', msg);
  }
  return {
    size: stat.size,
    modified: stat.mtime,
    version: `${stat.size.toString(36)}-${Math.round(stat.mtimeMs).toString(36)}`,
    type: `image/${sniffImage(head)}`,
    read: (start, end) => readPart(file, start, end),
    webp: (signal) => convert(file, stat.size, analyzer, signal),
    async analyze(modules, { signal = new AbortController().signal, ...options }) {
      try {
        return (await analyzeFile(analyzer, { file, bytes: stat.size }, { ...options, modules, signal })).analysis;
      } catch (error) {
        if (error instanceof AkinError || signal.aborted) throw error;
        throw new AkinError('image-unreachable', 'The original file cannot be read any more.', { cause: error });
      }
    },
  };
}

/** Does not follow a link that replaced the file, and does not wait for a pipe. */
const READ_FILE = fsConstants.O_RDONLY | (fsConstants.O_NOFOLLOW ?? 0) | (fsConstants.O_NONBLOCK ?? 0);

async function* readPart(file: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  await using handle = await fs.open(file, READ_FILE);
  yield* handle.createReadStream({ start, end, autoClose: false });
}

/** Undefined if it is not a file, or may not be read. */
async function readHead(file: string): Promise<{ stat: Stats; head: Uint8Array; hash: number } | undefined> {
  try {
    await using handle = await fs.open(file, READ_FILE);
    const stat = await handle.stat();
    if (!stat.isFile()) return undefined;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { stat, head: buffer.subarray(0, bytesRead), hash: await hashOfHandle(handle, stat.size) };
  } catch {
    return undefined;
  }
}

async function convert(
  file: string,
  size: number,
  { decoding: memory }: Pick<Analyzer, 'decoding'>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (size > memory.capacity) {
    throw new AkinError('too-large', `The file has ${formatBytes(size)}: raise --picture-memory.`);
  }
  const bytes = await fs.readFile(file);
  const plan = { minSide: SHOWN_SIDE, limits: OWN_IMAGE_LIMITS, memory: memory.capacity };
  const release = await memory.acquire(signal, { urgent: true, weight: await decodingBytes(bytes, plan) });
  try {
    return await convertToWebp(bytes, SHOWN_SIDE, OWN_IMAGE_LIMITS);
  } finally {
    release();
  }
}
