import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, rmdir, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file system of a few megabytes, in memory. */
export interface SmallDisk extends AsyncDisposable {
  readonly folder: string;
  resize(megabytes: number): Promise<void>;
  /**
   * Fills the disk, until `empty`.
   * @param left megabytes that stay free, at most
   */
  fill(left?: number): Promise<void>;
  empty(): Promise<void>;
}

/** @throws Error if mounting is not permitted; the message says what to do */
export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'akin-small-disk-'));
  const filler = join(folder, 'filler');
  const asRoot = (command: string, ...args: string[]) =>
    process.getuid?.() === 0 ? run(command, args) : run('sudo', ['-n', command, ...args]);
  const options = `mode=0777,size=${megabytes}m`;
  await asRoot('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', folder).catch(async (error: Error) => {
    await rmdir(folder);
    throw new Error(
      `The tests of a full disk mount one of their own. Run them on Linux as root (a container will do) or with sudo that asks for no password. ${error.message}`,
    );
  });
  return {
    folder,
    async resize(size) {
      await asRoot('mount', '-o', `remount,size=${size}m`, folder);
    },
    async fill(left = 0) {
      await using file = await open(filler, 'a');
      if (left > 0) {
        const { bavail, bsize } = await statfs(folder);
        await file.write(Buffer.alloc(Math.max(0, bavail * bsize - left * 1024 ** 2)));
        return;
      }
      for (const size of [65_536, 4_096, 1]) await writeUntilFull(file, Buffer.alloc(size));
    },
    empty: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      // Processes that still use it keep it until they end.
      await asRoot('umount', '-l', folder);
      await rmdir(folder);
    },
  };
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<void> {
  try {
    for (;;) {
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten < bytes.length) return;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
