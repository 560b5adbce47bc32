import type { Dirent } from 'node:fs';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { unpackTar } from 'modern-tar/fs';

export interface BackupEnd {
  /** The content of the file `backup_label`, which says where a restore starts in the log. */
  readonly label: string;
  /** The first and the last segment of the write-ahead log that a restore needs. */
  readonly segments: readonly [first: string, last: string];
}

export interface BackupSource {
  readonly dataDirectory: string;
  withoutWrites<T>(work: () => Promise<T>): Promise<T>;
  end(): Promise<BackupEnd>;
}

const CONTROL_FILE = 'global/pg_control';
/** Directories that a start fills: only they are archived, not their contents. */
const EMPTY_DIRECTORIES = new Set([
  ...['pg_wal', 'pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'],
  'pg_wal/archive_status',
  'pg_wal/summaries',
]);
/** Caches, temporary tables and files of a running server. */
const EXCLUDED_FILES = /(^|\/)(pg_internal\.init.*|pgsql_tmp.*|t\d+_\d+.*|postmaster\.(pid|opts)|backup_label.*)$/;
const CHUNK_BYTES = 256 * 1024;
/** Pages compress well at the lowest level. A higher one takes three times as long and saves only a tenth. */
const GZIP_LEVEL = 1;

/**
 * A data directory in use as a gzipped tar, in the way of pg_basebackup: files are read while they change, and the
 * write-ahead log of that time, which comes last, makes them consistent at a restore. Memory is limited to a few
 * chunks, and the archive is read no faster than its reader reads.
 */
export function archive(source: BackupSource): Readable {
  const { readable, controller } = createTarPacker();
  const gzip = createGzip({ level: GZIP_LEVEL });
  // The reader gets the error. Without a listener, the event would crash the process before there is a reader.
  gzip.on('error', () => undefined);
  const tar = Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]);
  void pipeline(tar, gzip).catch((error) => gzip.destroy(error as Error));
  pack(source, controller).then(
    () => controller.finalize(),
    (error) => gzip.destroy(error as Error),
  );
  return gzip;
}

async function pack(source: BackupSource, controller: TarPackController): Promise<void> {
  const { dataDirectory } = source;
  const entries = await readdir(dataDirectory, { recursive: true, withFileTypes: true });
  for (const { name, isDirectory } of entries.map((entry) => named(entry, dataDirectory)).sort(byName)) {
    if (
      EXCLUDED_FILES.test(name) ||
      name === CONTROL_FILE ||
      (EMPTY_DIRECTORIES.has(dirname(name)) && !EMPTY_DIRECTORIES.has(name))
    )
      continue;
    if (isDirectory) await controller.add({ name: `${name}/`, size: 0, type: 'directory' }).close();
    else await addFile(controller, join(dataDirectory, name), name);
  }
  const { label, segments } = await source.end();
  await addBytes(controller, 'backup_label', Buffer.from(label));
  await addBytes(
    controller,
    CONTROL_FILE,
    await source.withoutWrites(() => readFile(join(dataDirectory, CONTROL_FILE))),
  );
  const [first, last] = segments;
  const names = (await readdir(join(dataDirectory, 'pg_wal'))).sort();
  const log = names.filter((name) => name >= first && name <= last && /^[0-9A-F]{24}$/.test(name));
  if (
    log[0] !== first ||
    log.at(-1) !== last ||
    log.some((name, i) => i > 0 && !isNextSegment(name, log[i - 1] ?? ''))
  ) {
    throw logIsGone();
  }
  for (const name of log) {
    if (!(await addFile(controller, join(dataDirectory, 'pg_wal', name), `pg_wal/${name}`))) throw logIsGone();
  }
}

/**
 * Whether a segment of the log directly follows another: 8 digits of the timeline, 8 of the file, 8 of the segment in
 * it.
 */
function isNextSegment(name: string, before: string): boolean {
  const [file, segment] = [name.slice(8, 16), name.slice(16)].map((digits) => Number.parseInt(digits, 16));
  const [fileBefore, segmentBefore] = [before.slice(8, 16), before.slice(16)].map((digits) =>
    Number.parseInt(digits, 16),
  );
  if (file === fileBefore) return segment === (segmentBefore ?? 0) + 1;
  return file === (fileBefore ?? 0) + 1 && segment === 0;
}

/** A database that was restarted after a failure removes the log that the backup needs. */
function logIsGone(): Error {
  return new Error('The database was restarted during the backup, so the backup is incomplete. Start it again.');
}

function named(entry: Dirent, folder: string): { readonly name: string; readonly isDirectory: boolean } {
  const path = join(entry.parentPath, entry.name);
  return { name: path.slice(folder.length + 1).replaceAll('\\', '/'), isDirectory: entry.isDirectory() };
}

/** Directories come before their contents. */
const byName = (a: { readonly name: string }, b: { readonly name: string }) =>
  Number(a.name > b.name) - Number(a.name < b.name);

/**
 * The size of a file is fixed at the beginning. If it grows, the log contains the rest; if it shrinks, the log does
 * too, and the archive is filled with zeros. A missing file was dropped.
 *
 * @returns whether it existed
 */
async function addFile(controller: TarPackController, path: string, name: string): Promise<boolean> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    const { size } = await file.stat();
    const writer = controller.add({ name, size, mode: 0o600 }).getWriter();
    for (let at = 0; at < size; ) {
      // A new buffer each time: the archive keeps it for a while.
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - at));
      await file.read(chunk, 0, chunk.length, at);
      await writer.write(chunk);
      at += chunk.length;
    }
    await writer.close();
    return true;
  } finally {
    await file.close();
  }
}

async function addBytes(controller: TarPackController, name: string, bytes: Uint8Array): Promise<void> {
  const writer = controller.add({ name, size: bytes.length, mode: 0o600 }).getWriter();
  await writer.write(bytes);
  await writer.close();
}

/**
 * Unpacks an archive into a new directory, for its owner only. @throws Error if the file is not an archive, is
 * incomplete, or is not one of a database
 */
export async function unpackArchive(file: string, directory: string): Promise<void> {
  await stat(file);
  await mkdir(directory, { mode: 0o700 });
  const unpack = unpackTar(directory, {
    dmode: 0o700,
    fmode: 0o600,
    maxDepth: 16,
    filter: ({ type }) => type === 'file' || type === 'directory',
  });
  // A truncated file must not count as complete.
  await pipeline(createReadStream(file), createGunzip({ finishFlush: constants.Z_FINISH }), unpack);
  await access(join(directory, 'PG_VERSION')).catch(() => {
    throw new Error('it contains no database');
  });
}

/**
 * Writes a backup. The file appears only when every byte is on the disk, and only its owner may read it from the start.
 * @throws the error of `bytes`; then an earlier backup with this name is unchanged
 */
export async function writeBackup(file: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${file}.partial`;
  // A left-over of an earlier backup keeps its permissions, or is a link to another place.
  await rm(partial, { force: true });
  const handle = await open(partial, 'wx', 0o600);
  try {
    for await (const chunk of bytes) await handle.writeFile(chunk);
    await handle.sync();
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rename(partial, file);
  const directory = await open(dirname(file));
  await directory.sync().finally(() => directory.close());
}
