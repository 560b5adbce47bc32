import { readFileSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** Several times what a run takes at most. */
const MIN_BYTES = 4 * 1024 ** 3;

/**
 * The folder in which a run creates its folders. Tests create and delete hundreds of thousands of files, most of them
 * those of databases. In memory that takes a fraction of the CPU time; the folder is there if Linux has enough memory.
 */
export function testFolder(): string {
  if (isLargeEnough()) return IN_MEMORY;
  // Users other than root must be able to read it, which a TMPDIR below root's home would prevent.
  return process.getuid?.() === 0 ? '/tmp' : tmpdir();
}

function isLargeEnough(): boolean {
  try {
    const [, options = ''] = readFileSync('/proc/mounts', 'utf8').match(/^\S+ \/dev\/shm tmpfs (\S+)/m) ?? [];
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const bytes = Math.min(bavail * bsize, freemem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
    // Some tests start programs from their folder.
    return bytes >= MIN_BYTES && options.split(',').includes('rw') && !options.includes('noexec');
  } catch {
    return false;
  }
}
