import { AkinError } from '@akin/domain';
import type { ImageLimits } from '@akin/imaging';
import { Piscina } from 'piscina';
import { readTrained } from '../content-model/files.ts';
import { type Backend, checkBackend } from '../network/backend.ts';
import type { Analysis, AnalyzeOptions } from './analyze-image.ts';
import { createGate } from './gate.ts';
import type { Reply, Task } from './worker.ts';

export interface AnalyzerConfig {
  /** Worker threads at most; one is started at once, the others when needed. Each takes some 60 MB. */
  readonly threads: number;
  /** `wasm` when not given; what the others need must have been installed. */
  readonly backend?: Backend;
  /** Folder of a user's own trained model for the module content; this process must use its codebook too. */
  readonly contentModel?: string;
  readonly limits?: Partial<ImageLimits>;
}

export interface CallOptions {
  /** Names of modules, such as `parseModulesApply` gives. */
  readonly modules: readonly string[];
  readonly thumbnail?: boolean;
  readonly exif?: boolean;
  /** A person waits: goes before all that is not urgent. */
  readonly urgent?: boolean;
  /** Gives the analysis up: out of the line at once; one that runs is finished, and its result dropped. */
  readonly signal?: AbortSignal;
}

/** Analyzes images in worker threads, so that the event loop stays free. */
export interface Analyzer extends AsyncDisposable {
  /**
   * Waits for a free thread, then analyzes. Only as many images as there are threads are copied and in work; the others
   * stay with their callers, who should not hold more than they have memory for. The bytes are left as they are.
   *
   * @throws {AkinError} about the image as `analyzeImage` does; unavailable after disposal; internal when the thread
   * broke down, which fails this call alone. The signal's reason when aborted.
   */
  analyze(bytes: Uint8Array, options: CallOptions): Promise<Analysis>;
  /** Starts all threads and loads what the modules need, which the first analyses would have to wait for (0.3 s). */
  warmUp(modules: readonly string[]): Promise<void>;
}

/** No image takes this long: its thread hangs, is ended and replaced. */
const HANG_MILLISECONDS = 120_000;
/** Whoever closes the analyzer does not wait longer for a thread that hangs. */
const CLOSE_MILLISECONDS = 30_000;
/** Threads beyond the first end when they have had no work for this long, and give their memory back. */
const IDLE_MILLISECONDS = 60_000;

const WORKER = new URL('../../dist/analyzer/worker.js', import.meta.url);

/**
 * Starts the first thread. Nothing is loaded that no call asked for: `warmUp` does it beforehand.
 *
 * @throws {AkinError} conflict when the backend cannot run on this machine; bad-request when the content model does not.
 */
export async function createAnalyzer(config: AnalyzerConfig): Promise<Analyzer> {
  await checkBackend(config.backend ?? 'wasm');
  const analyzer = createPool(config, WORKER);
  if (config.contentModel === undefined) return analyzer;
  try {
    // Told now rather than with each picture.
    await analyzer.analyze(WARM_UP_IMAGE, { modules: ['content'] });
    return analyzer;
  } catch (error) {
    await analyzer[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same on another worker file, for tests of broken ones. */
export function createPool(config: AnalyzerConfig, worker: URL, hangMilliseconds = HANG_MILLISECONDS): Analyzer {
  const { threads, backend, contentModel, limits } = config;
  // Threads come and go, and the model may be trained anew meanwhile: all keep to the one that there is now.
  const contentModelName = contentModel && readTrained(contentModel).model;
  const pool = new Piscina<Task, Reply>({
    filename: worker.href,
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: IDLE_MILLISECONDS,
  });
  // A thread that breaks without work to do hurts nobody: the pool starts another. Unheard, the event would end us.
  pool.on('error', () => {});
  const gate = createGate(threads);

  async function analyze(bytes: Uint8Array, options: CallOptions): Promise<Analysis> {
    const { urgent = false, signal, modules, thumbnail = false, exif = false } = options;
    const leave = await gate.enter({ urgent, signal });
    const wanted = {
      modules,
      thumbnail,
      exif,
      ...(backend && { backend }),
      ...(contentModel && contentModelName && { contentModel, contentModelName }),
      ...(limits && { limits }),
    };
    const running = run(pool, bytes, wanted, hangMilliseconds).finally(leave);
    return signal ? unlessAborted(running, signal) : running;
  }

  return {
    analyze,
    async warmUp(modules) {
      await Promise.all(Array.from({ length: threads }, () => analyze(WARM_UP_IMAGE, { modules })));
    },
    async [Symbol.asyncDispose]() {
      // The pool finishes only what a thread has: not what waits for a thread to start, nor who was let in just now.
      const late = setTimeout(() => void pool.destroy(), CLOSE_MILLISECONDS);
      await gate.close(new AkinError('unavailable', 'The analyzer is shutting down. Try again later.'));
      clearTimeout(late);
      await pool.close();
    },
  };
}

async function run(
  pool: Piscina<Task, Reply>,
  bytes: Uint8Array,
  options: AnalyzeOptions,
  hangMilliseconds: number,
): Promise<Analysis> {
  // One plain copy that is handed over. Sent as it is, a Buffer would drag along the whole pool of memory it lies in.
  const copy = new Uint8Array(bytes);
  const hang = new AbortController();
  const timer = setTimeout(() => hang.abort(), hangMilliseconds);
  let reply: Reply;
  try {
    reply = await pool.run({ bytes: copy, options }, { transferList: [copy.buffer], signal: hang.signal });
  } catch (cause) {
    if (hang.signal.aborted) throw new AkinError('image-undecodable', TOOK_TOO_LONG, { cause });
    throw new AkinError('internal', BROKE_DOWN, { cause });
  } finally {
    clearTimeout(timer);
  }
  if ('error' in reply) throw new AkinError(reply.error.code, reply.error.message, { details: reply.error.details });
  return reply.analysis;
}

const TOOK_TOO_LONG = 'The analysis of this image took too long. Send a smaller version.';
const BROKE_DOWN = 'The analysis of this image broke down. Try again, or send another version of it.';

function unlessAborted<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** A GIF of one white pixel. */
const WARM_UP_IMAGE = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64');
