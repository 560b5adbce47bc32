import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PrivateFiles } from './private-files.ts';

/** A WebAssembly.Module: threads that get it share its machine code. */
export type CompiledPglite = NonNullable<PGliteOptions['pgliteWasmModule']>;

declare const WebAssembly: { Module: new (bytes: Uint8Array) => CompiledPglite };

/**
 * V8 compiles a function a second time, optimized, when it has run through about this many bytes of machine code. The
 * functions of PostgreSQL are long: with the defaults, a start spends a third of its processor time on that, for
 * functions that run for a few milliseconds in all.
 */
const OPTIMIZED_FROM = 40_000_000;
/** The default of V8, which other WebAssembly of the process keeps: kernels are short, and run often. */
const DEFAULT_TIERING_BUDGET = Number(process.versions.v8.split('.')[0]) < 12 ? 1_800_000 : 13_000_000;

/** Requests of the engine: wire protocol as bytes, everything else by name. */
export type WorkerRequest =
  | Uint8Array
  | { readonly kind: 'close' }
  /** A question whether it is idle: answered as soon as it is heard. */
  | { readonly kind: 'check'; readonly round: number };

/** Its replies: bytes of the wire protocol, or one of these. `failed` ends the worker. */
export type WorkerReply =
  | Uint8Array
  | { readonly kind: 'done' }
  /** With the compiled PGlite if none was passed in. */
  | { readonly kind: 'ready'; readonly compiled?: CompiledPglite }
  | { readonly kind: 'idle'; readonly round: number }
  | { readonly kind: 'failed'; readonly reason: string };

export interface WorkerConfig {
  readonly dataDirectory: string;
  /** PGlite as an earlier thread of the process compiled it. */
  readonly compiled?: CompiledPglite | undefined;
}

/**
 * PGlite runs PostgreSQL in single-user mode, where no background process makes checkpoints: the store requests them
 * (see maintain). Segments that a checkpoint frees are removed instead of kept. A new segment is not filled with zeros,
 * which would block a commit for 140 ms: that only helps after a power cut, which PGlite does not survive. The cache
 * has 32 MB instead of 128: PostgreSQL fills it with zeros at each start, which took half of the start, and the cache
 * of the operating system is nearly as fast.
 */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams,
  ...['wal_recycle=off', 'wal_init_zero=off', 'min_wal_size=32MB', 'max_wal_size=64MB', 'shared_buffers=32MB'].flatMap(
    (setting) => ['-c', setting],
  ),
];

const port = parentPort;
if (port === null) throw new Error('runs as a worker thread only');

function reply(message: WorkerReply): void {
  if (message instanceof Uint8Array) port?.postMessage(message, [message.buffer as ArrayBuffer]);
  else port?.postMessage(message);
}

function fail(error: unknown): void {
  reply({ kind: 'failed', reason: reasonOf(error) });
}

/** Errors of Emscripten's file system have a number instead of a message. */
const ERRNO: Readonly<Record<number, string>> = {
  2: 'permission denied',
  19: 'quota exceeded',
  29: 'input/output error',
  51: 'no space left on device',
  69: 'read-only file system',
};

function reasonOf(error: unknown): string {
  const { message, errno } = error as { readonly message?: string; readonly errno?: number };
  if (errno !== undefined) return ERRNO[errno] ?? `error ${errno} of the file system`;
  return message ?? String(error);
}

function compile(): CompiledPglite {
  const bytes = readFileSync(new URL('pglite.wasm', import.meta.resolve('@electric-sql/pglite')));
  // A module keeps the value with which it was compiled.
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMIZED_FROM}`);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString(`--wasm-tiering-budget=${DEFAULT_TIERING_BUDGET}`);
  }
}

async function start(config: WorkerConfig, compiled: CompiledPglite): Promise<PGlite> {
  // The parent folders exist. A folder that exists already may contain the database.
  await mkdir(config.dataDirectory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return PGlite.create({
    fs: new PrivateFiles(config.dataDirectory),
    extensions: { vector },
    startParams: START_PARAMETERS,
    pgliteWasmModule: compiled,
  });
}

/** One round of the wire protocol: whole messages in, all replies of the server out. */
async function exchange(db: PGlite, message: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await db.execProtocolRawStream(message, {
    syncToFs: false,
    onRawData: (bytes) => {
      // A view into the memory of the database: the next round overwrites it.
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

async function serve(db: PGlite, request: WorkerRequest): Promise<void> {
  if (request instanceof Uint8Array) return reply(await exchange(db, request));
  if (request.kind === 'close') await db.close();
  reply({ kind: 'done' });
}

try {
  const config = workerData as WorkerConfig;
  const compiled = config.compiled ?? compile();
  const db = await start(config, compiled);
  // One at a time.
  let last: Promise<unknown> = Promise.resolve();
  port.on('message', (request: WorkerRequest) => {
    if ('kind' in request && request.kind === 'check') return reply({ kind: 'idle', round: request.round });
    last = last.then(() => serve(db, request)).catch(fail);
  });
  reply(config.compiled === undefined ? { kind: 'ready', compiled } : { kind: 'ready' });
} catch (error) {
  fail(error);
}
