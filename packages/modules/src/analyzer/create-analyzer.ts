import { setMaxListeners } from 'node:events';
import { AkinError } from '@akin/domain';
import { decodingBytes, type ImageLimits } from '@akin/imaging';
import { memoryLimit, Semaphore, unlessAborted } from '@akin/runtime';
import { Piscina } from 'piscina';
import { minimumSide, readPreprocessing } from '../model-folder/preprocessing.ts';
import { contentCodebook, noTextEncoder } from '../model-folder/use-content-model.ts';
import { type Backend, type BackendChoice, checkBackend, chooseBackend } from '../network/backend.ts';
import '../network/no-telemetry.ts';
import { shippedCodebook } from '../vectors/codebook.ts';
import { type Analysis, type AnalyzeOptions, MIN_SIDE } from './analyze-image.ts';
import { createTextEncoderPool } from './text-encoder-pool.ts';
import type { TextAnalysis } from './text-encoder-worker.ts';
import { THREAD_ARGUMENTS } from './thread-arguments.ts';
import type { Reply, Task } from './worker.ts';

export interface AnalyzerConfig {
  /** Maximum worker threads. They start when they are needed. Each takes some 60 MB. */
  readonly threads: number;
  /** Default: `wasm`. `auto` takes the fastest backend that runs on this machine; other backends must be installed. */
  readonly backend?: BackendChoice;
  /** Folder of another model for the module content, as in `AnalyzeOptions`; this process must use its codebook too. */
  readonly contentModel?: string;
  readonly limits?: Partial<ImageLimits>;
  /** Another analyzer whose memory budget for pictures this one shares. */
  readonly shareMemoryWith?: Analyzer;
  /** Maximum memory of all pictures together, in bytes. Default: `defaultPictureMemory`. */
  readonly pictureMemory?: number;
}

export interface CallOptions extends Omit<AnalyzeOptions, 'backend' | 'contentModel' | 'contentModelName'> {
  readonly modules: readonly string[];
  /** The content model, for analyzers that have several. Default: the model of the process. */
  readonly model?: string | undefined;
  /** A user is waiting: this call goes before all calls that are not urgent. */
  readonly urgent?: boolean;
  /**
   * Cancels the analysis. A waiting one leaves the queue immediately; a running one is finished, but its result is
   * ignored.
   */
  readonly signal?: AbortSignal;
}

/** Analyzes images in worker threads, so that the event loop stays free. */
export interface Analyzer extends AsyncDisposable {
  readonly backend: Backend;
  /** For `auto`: why this backend was chosen, as a phrase for users. */
  readonly backendReason?: string;
  /**
   * Analyzes a picture as soon as there is memory to decode it, estimated from its header, and a free thread. Only as
   * many images as there are threads are copied; the others stay with their callers, who should enter `files` before
   * they load them. The bytes are not modified.
   *
   * @throws {AkinError} about the image as `analyzeImage` does; unavailable after disposal; internal when the thread
   * crashed, which affects only this call; image-undecodable also when decoding needs more memory than the budget for
   * all pictures. The signal's reason when aborted.
   */
  analyze(bytes: Uint8Array, options: CallOptions): Promise<Analysis>;
  /**
   * Computes outputs of the module content for a text, which can be compared with those of pictures.
   *
   * @throws {AkinError} bad-request when the content model has no text encoder; as `analyze` does.
   */
  encodeText(text: string, signal: AbortSignal, model?: string | undefined): Promise<TextAnalysis>;
  /** Starts all threads and loads what the modules need, so that the first analyses do not wait for it (0.3 s). */
  warmUp(modules: readonly string[]): Promise<void>;
  /** Budget of bytes for files of pictures that wait for their analysis. Calls with a large file enter it first. */
  readonly files: Semaphore;
  /** Budget of bytes for pictures that are being decoded and analyzed. */
  readonly decoding: Semaphore;
}

/** One eighth of the memory for pictures is for their files, the rest is for decoding. */
const FILES_SHARE = 1 / 8;
const MAX_PICTURE_MEMORY = 1280 * 1024 ** 2;

/**
 * Half of the memory of this process, in bytes, but at most what an AVIF of 50 megapixels needs. The rest is for
 * everything else.
 */
export function defaultPictureMemory(): number {
  return Math.min(memoryLimit() / 2, MAX_PICTURE_MEMORY);
}

const HANG_MILLISECONDS = 120_000;
const CLOSE_MILLISECONDS = 30_000;
/** All threads but one end after this idle time, to free their memory. */
const IDLE_MILLISECONDS = 60_000;

const WORKER = new URL('../../dist/analyzer/worker.js', import.meta.url);

/**
 * Creates an analyzer. Threads start and modules load their data at their first use; `warmUp` does so earlier.
 *
 * @throws {AkinError} conflict when the backend cannot run on this machine; bad-request when the content model cannot.
 */
export async function createAnalyzer(config: AnalyzerConfig): Promise<Analyzer> {
  const { backend, reason } = await chooseBackend(config.backend ?? 'wasm');
  await checkBackend(backend);
  const analyzer = { ...createPool({ ...config, backend }, WORKER), ...(reason ? { backendReason: reason } : {}) };
  if (config.contentModel === undefined) return analyzer;
  try {
    // Report an unusable model now, not with each picture.
    await analyzer.analyze(WARM_UP_IMAGE, { modules: ['content'] });
    if (contentCodebook(config.contentModel).textCalibration !== undefined) {
      await analyzer.encodeText('a', new AbortController().signal);
    }
    return analyzer;
  } catch (error) {
    await analyzer[Symbol.asyncDispose]();
    throw error;
  }
}

/** As `createAnalyzer`, with another worker file, for tests of broken workers. */
export function createPool(
  config: AnalyzerConfig & { readonly backend?: Backend },
  worker: URL,
  hangMilliseconds = HANG_MILLISECONDS,
): Analyzer {
  const { threads, backend, contentModel } = config;
  // Threads start and end, and the model may be trained again in the meantime: all threads use the current one.
  const codebook = contentModel === undefined ? undefined : contentCodebook(contentModel);
  const contentModelName = codebook?.model;
  const minSide = contentModel ? Math.max(MIN_SIDE, minimumSide(readPreprocessing(contentModel))) : MIN_SIDE;
  /** Many a process analyzes nothing. */
  let pool: Piscina<Task, Reply> | undefined;
  const openPool = () => {
    const opened = new Piscina<Task, Reply>({
      filename: worker.href,
      minThreads: 1,
      maxThreads: threads,
      idleTimeout: IDLE_MILLISECONDS,
      execArgv: THREAD_ARGUMENTS,
    });
    // If an idle thread crashes, the pool starts another one. Without a listener, the error event would crash the
    // process.
    opened.on('error', () => {});
    return opened;
  };
  const memory = config.pictureMemory ?? defaultPictureMemory();
  const files = config.shareMemoryWith?.files ?? new Semaphore(memory * FILES_SHARE);
  const decoding = config.shareMemoryWith?.decoding ?? new Semaphore(memory * (1 - FILES_SHARE));
  const slots = new Semaphore(threads);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<Analysis>>();
  const words =
    contentModel && contentModelName && codebook?.textCalibration
      ? createTextEncoderPool(contentModel, contentModelName)
      : undefined;

  async function analyze(bytes: Uint8Array, options: CallOptions): Promise<Analysis> {
    const { urgent = false, modules, thumbnail = false, facts, region, soughtPoints = false } = options;
    const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
    signal.throwIfAborted();
    const limits = { ...config.limits, ...options.limits };
    const needed = await decodingBytes(bytes, { minSide, region, limits, memory: decoding.capacity });
    const releaseMemory = await decoding.acquire(signal, { urgent, weight: needed });
    let releaseSlot: () => void;
    try {
      releaseSlot = await slots.acquire(signal, { urgent });
    } catch (error) {
      releaseMemory();
      throw error;
    }
    const wanted = {
      modules,
      thumbnail,
      ...(facts && { facts }),
      ...(region && { region }),
      ...(soughtPoints && { soughtPoints }),
      ...(backend && { backend }),
      ...(contentModel && contentModelName && { contentModel, contentModelName }),
      limits,
    };
    pool ??= openPool();
    const run = analyzeIn(pool, bytes, wanted, hangMilliseconds).finally(() => {
      running.delete(run);
      releaseMemory();
      releaseSlot();
    });
    running.add(run);
    return unlessAborted(run, options.signal);
  }

  return {
    backend: backend ?? 'wasm',
    analyze,
    files,
    decoding,
    async encodeText(text, signal) {
      if (words === undefined) throw noTextEncoder(contentModelName ?? shippedCodebook('content').model);
      return words.describe(text, AbortSignal.any([signal, closing.signal]));
    },
    async warmUp(modules) {
      await Promise.all(Array.from({ length: threads }, () => analyze(WARM_UP_IMAGE, { modules })));
    },
    async [Symbol.asyncDispose]() {
      // The pool finishes only tasks that a thread has started; tasks that wait for a thread, or were just admitted,
      // need this timer.
      const late = setTimeout(() => void pool?.destroy(), CLOSE_MILLISECONDS);
      closing.abort(new AkinError('unavailable', 'The analyzer is shutting down. Try again later.'));
      await Promise.allSettled(running);
      clearTimeout(late);
      await Promise.all([pool?.close(), words?.[Symbol.asyncDispose]()]);
    },
  };
}

async function analyzeIn(
  pool: Piscina<Task, Reply>,
  bytes: Uint8Array,
  options: AnalyzeOptions,
  hangMilliseconds: number,
): Promise<Analysis> {
  // Transfer one plain copy. Sending the Buffer itself would also copy the whole memory pool that it belongs to.
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
const BROKE_DOWN = 'The analysis of this image failed. Try again, or send another version of it.';

const WARM_UP_IMAGE = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64');
