import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';

/** What the engine asks: wire protocol as bare bytes, everything else by name. */
export type WorkerRequest =
  | Uint8Array
  | { readonly kind: 'backup'; readonly file: string }
  | { readonly kind: 'close' };

/** What it hears: bytes of the wire protocol, or one of these. `failed` ends the worker. */
export type WorkerReply =
  | Uint8Array
  | { readonly kind: 'ready' | 'done' }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WorkerConfig {
  readonly dataDirectory: string;
  /** Fills an empty directory from this backup instead of making a new database. */
  readonly backup?: string;
}

/**
 * PGlite runs PostgreSQL in single-user mode, where nobody makes checkpoints in the background: the store asks for them
 * (see maintain), and segments that a checkpoint frees are given back rather than kept. A new segment is not filled with
 * zeros, which would hold a commit for 140 ms: that helps after a loss of power alone, which PGlite does not survive.
 */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams,
  '-c',
  'wal_recycle=off',
  '-c',
  'wal_init_zero=off',
  '-c',
  'min_wal_size=32MB',
  '-c',
  'max_wal_size=64MB',
];

const port = parentPort;
if (port === null) throw new Error('runs as a worker thread only');

function reply(message: WorkerReply): void {
  if (message instanceof Uint8Array) port?.postMessage(message, [message.buffer as ArrayBuffer]);
  else port?.postMessage(message);
}

function fail(error: unknown): void {
  reply({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

async function start(config: WorkerConfig): Promise<PGlite> {
  const dump = config.backup === undefined ? undefined : new Blob([await readFile(config.backup)]);
  return PGlite.create({
    dataDir: config.dataDirectory,
    extensions: { vector },
    startParams: START_PARAMETERS,
    ...(dump === undefined ? {} : { loadDataDir: dump }),
  });
}

/** One round of the wire protocol: whole messages in, all that the server says to them out. */
async function exchange(db: PGlite, message: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await db.execProtocolRawStream(message, {
    syncToFs: false,
    onRawData: (bytes) => {
      // A view into the memory of the database: it is overwritten by the next one.
      chunks.push(bytes.slice());
      size += bytes.length;
    },
  });
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** The name appears only when every byte is on the disk. */
async function writeBackup(db: PGlite, file: string): Promise<void> {
  const dump = await db.dumpDataDir('gzip');
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w');
  try {
    for await (const chunk of dump.stream()) await handle.write(chunk as Uint8Array);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(partial, file);
  const directory = await open(dirname(file));
  await directory.sync().finally(() => directory.close());
}

async function serve(db: PGlite, request: WorkerRequest): Promise<void> {
  if (request instanceof Uint8Array) return reply(await exchange(db, request));
  if (request.kind === 'backup') await writeBackup(db, request.file);
  else await db.close();
  reply({ kind: 'done' });
}

try {
  const db = await start(workerData as WorkerConfig);
  // One at a time: a message that comes while a backup runs waits for it.
  let last: Promise<unknown> = Promise.resolve();
  port.on('message', (request: WorkerRequest) => {
    last = last.then(() => serve(db, request)).catch(fail);
  });
  reply({ kind: 'ready' });
} catch (error) {
  fail(error);
}
