import { setMaxListeners } from 'node:events';
import { AkinError } from '@akin/domain';
import { decodingBytes, formatBytes, type ImageLimits } from '@akin/imaging';
import { memoryLimit, WeightedSemaphore } from '@akin/runtime';
import { Piscina } from 'piscina';
import { contentCodebook, knowsNoWords } from '../content-model/files.ts';
import { isModelFolder } from '../model-folder/files.ts';
import { leastSide, readPreprocessing } from '../model-folder/preprocessing.ts';
import { type Backend, type BackendChoice, checkBackend, chooseBackend } from '../network/backend.ts';
import { shippedCodebook } from '../vectors/codebook.ts';
import { type Analysis, type AnalyzeOptions, MIN_SIDE } from './analyze-image.ts';
import { createWordsPool } from './words-pool.ts';
import type { WordsAnalysis } from './words-worker.ts';
import type { Reply, Task } from './worker.ts';

export interface AnalyzerConfig {
  /** Worker threads at most; one is started at once, the others when needed. Each takes some 60 MB. */
  readonly threads: number;
  /** `wasm` when not given; `auto` takes the fastest that runs here; what others need must have been installed. */
  readonly backend?: BackendChoice;
  /** Folder of another model for the module content, as `AnalyzeOptions` has it; this process must use its codebook too. */
  readonly contentModel?: string;
  readonly limits?: Partial<ImageLimits>;
  /** Shares the memory for pictures with this one. */
  readonly memoryOf?: Analyzer;
  /** Bytes of memory that pictures may take together; `defaultPictureMemory` when not given. */
  readonly pictureMemory?: number;
}

export interface CallOptions {
  /** Names of modules, such as `parseModulesApply` gives. */
  readonly modules: readonly string[];
  readonly thumbnail?: boolean;
  readonly exif?: boolean;
  /** Which content model, for analyzers that have several: that of the process when not given. */
  readonly model?: string | undefined;
  /** A person waits: goes before all that is not urgent. */
  readonly urgent?: boolean;
  /** Gives the analysis up: out of the line at once; one that runs is finished, and its result dropped. */
  readonly signal?: AbortSignal;
}

/** Analyzes images in worker threads, so that the event loop stays free. */
export interface Analyzer extends AsyncDisposable {
  /** What runs the network. */
  readonly backend: Backend;
  /** For `auto`: why it is this backend, as a phrase for people. */
  readonly backendReason?: string;
  /**
   * Waits until there is memory to decode the picture, by its header, and a free thread; then analyzes. Only as
   * many images as there are threads are copied and in work; the others stay with their callers, who should enter
   * `files` before they hold them. The bytes are left as they are.
   *
   * @throws {AkinError} about the image as `analyzeImage` does; unavailable after disposal; internal when the thread
   * broke down, which fails this call alone. image-undecodable also when decoding takes more memory than there is for
   * all pictures. The signal's reason when aborted.
   */
  analyze(bytes: Uint8Array, options: CallOptions): Promise<Analysis>;
  /**
   * The outputs of the module content for words, which can be compared with those of pictures.
   *
   * @throws {AkinError} bad-request when the content model knows no words; as `analyze` does.
   */
  describeWords(text: string, signal: AbortSignal, model?: string | undefined): Promise<WordsAnalysis>;
  /** Starts all threads and loads what the modules need, which the first analyses would have to wait for (0.3 s). */
  warmUp(modules: readonly string[]): Promise<void>;
  /** Bytes of files of pictures that are held until they are analyzed. Calls with a large one enter first. */
  readonly files: WeightedSemaphore;
  /** Bytes that pictures at work take as they are decoded. */
  readonly decoding: WeightedSemaphore;
}

/** One eighth of the memory for pictures is for their files, the rest for decoding. */
const FILES_SHARE = 1 / 8;
const MOST_PICTURE_MEMORY = 1280 * 1024 ** 2;

/** Half of what this process may use, in bytes, and at most what an AVIF of 50 megapixels needs. The rest is for all else. */
export function defaultPictureMemory(): number {
  return Math.min(memoryLimit() / 2, MOST_PICTURE_MEMORY);
}

/** No image takes this long: its thread hangs, is ended and replaced. */
const HANG_MILLISECONDS = 120_000;
/** Closing the analyzer does not wait longer for a thread that hangs. */
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
  const { backend, reason } = await chooseBackend(config.backend ?? 'wasm');
  await checkBackend(backend);
  const analyzer = { ...createPool({ ...config, backend }, WORKER), ...(reason ? { backendReason: reason } : {}) };
  if (config.contentModel === undefined) return analyzer;
  try {
    // Told now rather than with each picture.
    await analyzer.analyze(WARM_UP_IMAGE, { modules: ['content'] });
    if (contentCodebook(config.contentModel).wordsCalibration !== undefined) {
      await analyzer.describeWords('a', new AbortController().signal);
    }
    return analyzer;
  } catch (error) {
    await analyzer[Symbol.asyncDispose]();
    throw error;
  }
}

/** The same on another worker file, for tests of broken ones. */
export function createPool(
  config: AnalyzerConfig & { readonly backend?: Backend },
  worker: URL,
  hangMilliseconds = HANG_MILLISECONDS,
): Analyzer {
  const { threads, backend, contentModel, limits } = config;
  // Threads come and go, and the model may be trained again meanwhile: all threads use the one of now.
  const codebook = contentModel === undefined ? undefined : contentCodebook(contentModel);
  const contentModelName = codebook?.model;
  const minSide =
    contentModel && isModelFolder(contentModel)
      ? Math.max(MIN_SIDE, leastSide(readPreprocessing(contentModel)))
      : MIN_SIDE;
  const pool = new Piscina<Task, Reply>({
    filename: worker.href,
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: IDLE_MILLISECONDS,
  });
  // A thread that breaks without work to do hurts nobody: the pool starts another. Unheard, the event would end us.
  pool.on('error', () => {});
  const memory = config.pictureMemory ?? defaultPictureMemory();
  const mostToDecode = memory * (1 - FILES_SHARE);
  const files = config.memoryOf?.files ?? new WeightedSemaphore(memory * FILES_SHARE);
  const decoding = config.memoryOf?.decoding ?? new WeightedSemaphore(mostToDecode);
  const places = new WeightedSemaphore(threads);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<Analysis>>();
  const words =
    contentModel && contentModelName && codebook?.wordsCalibration
      ? createWordsPool(contentModel, contentModelName)
      : undefined;

  async function analyze(bytes: Uint8Array, options: CallOptions): Promise<Analysis> {
    const { urgent = false, modules, thumbnail = false, exif = false } = options;
    const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
    signal.throwIfAborted();
    const needed = await decodingBytes(bytes, { minSide, ...(limits && { limits }) });
    if (needed > mostToDecode) throw needsTooMuch(needed, mostToDecode);
    const leaveMemory = await decoding.enter(urgent, signal, needed);
    let leavePlace: () => void;
    try {
      leavePlace = await places.enter(urgent, signal);
    } catch (error) {
      leaveMemory();
      throw error;
    }
    const wanted = {
      modules,
      thumbnail,
      exif,
      ...(backend && { backend }),
      ...(contentModel && contentModelName && { contentModel, contentModelName }),
      ...(limits && { limits }),
    };
    const run = analyzeIn(pool, bytes, wanted, hangMilliseconds).finally(() => {
      running.delete(run);
      leaveMemory();
      leavePlace();
    });
    running.add(run);
    return options.signal ? unlessAborted(run, options.signal) : run;
  }

  return {
    backend: backend ?? 'wasm',
    analyze,
    files,
    decoding,
    async describeWords(text, signal) {
      if (words === undefined) throw knowsNoWords(contentModelName ?? shippedCodebook('content').model);
      return words.describe(text, AbortSignal.any([signal, closing.signal]));
    },
    async warmUp(modules) {
      await Promise.all(Array.from({ length: threads }, () => analyze(WARM_UP_IMAGE, { modules })));
    },
    async [Symbol.asyncDispose]() {
      // The pool finishes only what a thread has: not what waits for a thread to start, nor who was let in just now.
      const late = setTimeout(() => void pool.destroy(), CLOSE_MILLISECONDS);
      closing.abort(new AkinError('unavailable', 'The analyzer is shutting down. Try again later.'));
      await Promise.allSettled(running);
      clearTimeout(late);
      await Promise.all([pool.close(), words?.[Symbol.asyncDispose]()]);
    },
  };
}

function needsTooMuch(needed: number, most: number): AkinError {
  return new AkinError(
    'image-undecodable',
    `Decoding this image takes about ${formatBytes(needed)} of memory; there are ${formatBytes(most)} for it (--picture-memory). Send a smaller version, or a JPEG that is not progressive.`,
  );
}

async function analyzeIn(
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
const BROKE_DOWN = 'The analysis of this image failed. Try again, or send another version of it.';

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
