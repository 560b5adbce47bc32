import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, promises, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { badRequest } from '@akin/domain';

const CHUNK = 1 << 20;
const known = new Map<string, string>();

/**
 * The SHA-256 of a file in hexadecimal digits. Cached while size and time of the file stay the same, because models are
 * large.
 *
 * @throws {AkinError} bad-request when the file cannot be read.
 */
export function sha256OfFile(file: string): string {
  try {
    const stats = statSync(file);
    const { size, mtimeMs } = stats;
    // Opening a pipe would block.
    if (!stats.isFile()) throw Object.assign(new Error('no file'), { code: 'no file' });
    const key = keyOf(file, size, mtimeMs);
    const hash = known.get(key) ?? read(file);
    known.set(key, hash);
    return hash;
  } catch (error) {
    throw badRequest(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

const LARGE = 1 << 20;
/** Folders of Hugging Face also contain the same weights for other frameworks. */
const WEIGHTS = /\.onnx(_data)?$/;

/**
 * Hashes the weights of a model without blocking the event loop, so that {@link sha256OfFile} finds the hashes in its
 * cache.
 */
export async function hashLargeFiles(folder: string): Promise<void> {
  // Errors are ignored here: code that needs the file reports them.
  for (const one of [folder, join(folder, 'onnx')]) {
    const names = await promises.readdir(one).catch(() => []);
    for (const name of names.filter((name) => WEIGHTS.test(name))) await hashLargeFile(join(one, name)).catch(() => {});
  }
}

/** As {@link hashLargeFiles}, for one file. @throws the error of the system if it cannot be read */
export async function hashLargeFile(file: string): Promise<void> {
  const stats = await promises.stat(file);
  const { size, mtimeMs } = stats;
  const key = keyOf(file, size, mtimeMs);
  if (!stats.isFile() || size < LARGE || known.has(key)) return;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK })) hash.update(chunk);
  known.set(key, hash.digest('hex'));
}

function keyOf(...parts: [file: string, size: number, mtimeMs: number]): string {
  return JSON.stringify(parts);
}

function read(file: string): string {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK);
  const open = openSync(file, 'r');
  try {
    for (let count = readSync(open, chunk); count > 0; count = readSync(open, chunk)) {
      hash.update(chunk.subarray(0, count));
    }
  } finally {
    closeSync(open);
  }
  return hash.digest('hex');
}
