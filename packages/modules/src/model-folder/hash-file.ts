import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { AkinError } from '@akin/domain';

const CHUNK = 1 << 20;
const known = new Map<string, string>();

/**
 * The SHA-256 of a file in hexadecimal digits. Kept as long as size and time of the file stay, because models are large.
 *
 * @throws {AkinError} bad-request when it cannot be read.
 */
export function sha256OfFile(file: string): string {
  try {
    const { size, mtimeMs } = statSync(file);
    const key = JSON.stringify([file, size, mtimeMs]);
    const hash = known.get(key) ?? read(file);
    known.set(key, hash);
    return hash;
  } catch (error) {
    throw new AkinError('bad-request', `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
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
