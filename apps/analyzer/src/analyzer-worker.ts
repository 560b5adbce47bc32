import { setMaxListeners } from 'node:events';
import { type AnalysisJobRef, analysisJobId, type JobPayload } from '@akin/contract';
import { AkinError, type ErrorCode, parseUrl } from '@akin/domain';
import type { Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import type { Job, Queue } from '@akin/queue';
import { inSpan, type Log, type Metrics, Semaphore, traceparent } from '@akin/runtime';

export interface AnalyzerWorkerConfig {
  readonly queue: Queue;
  readonly analyzer: Analyzer;
  readonly threads: number;
  /**
   * Downloads the bytes of a URL, with protection against forged requests to internal servers. `release` says that the
   * bytes are no longer in memory. @throws AkinError
   */
  readonly download: (
    url: string,
    urgent: boolean,
    signal: AbortSignal,
    maxMilliseconds?: number,
  ) => Promise<{ readonly bytes: Uint8Array; readonly release: () => void }>;
  readonly log: Log;
  readonly metrics: Metrics;
}

type AnalysisResult = JobPayload<'analyzed'>['result'];

const REPEATED_CRASH_RESULT = {
  code: 'image-undecodable',
  msg: 'The analysis of this image did not come to an end, several times. Send another version of it.',
} as const;

/**
 * Maximum jobs taken at the same time. Most of them wait for a host or for a thread and hold only a URL in memory, so
 * slow hosts do not block the others.
 */
const JOBS_AT_A_TIME = 128;
/**
 * Maximum simultaneous downloads from one host. All downloads are blocked only when many hosts hang at the same time.
 */
const DOWNLOADS_PER_HOST = 6;
/**
 * Time limit for the first download of a picture that a client may wait for, also if the operator allows more: it then
 * hears within 25 seconds that the host does not deliver.
 */
const FIRST_DOWNLOAD_MILLISECONDS = 15_000;
/**
 * Maximum images that are being downloaded or wait for a thread. They are in memory; `download` limits the number of
 * large ones.
 */
const IMAGES_AT_A_TIME = 48;
/** When this many images wait for a thread, further jobs are left to other analyzers. */
const MAX_READY_IMAGES = 8;

/** At shutdown, running analyses get this much time to finish; then their jobs return to the queue. */
const LAST_ANALYSIS_MILLISECONDS = 1_000;

/**
 * Handles `analyze` jobs: downloads the image, analyzes it and answers with an `analyzed` job that contains the outputs
 * or the error. The worker keeps no state, so any number of workers may share a queue and stop at any time. Waiting for
 * a host does not occupy a thread. Disposing takes no more jobs, gives running analyses a moment, and hands the other
 * jobs back.
 */
export function createAnalyzerWorker(config: AnalyzerWorkerConfig): AsyncDisposable {
  const { queue, analyzer, threads, download, log, metrics } = config;
  const hosts = new Semaphore(Number.POSITIVE_INFINITY, { perClient: DOWNLOADS_PER_HOST });
  const images = new Semaphore(IMAGES_AT_A_TIME + threads);
  const analyses = new Semaphore(threads);
  /** Images that are downloaded but not analyzed yet. */
  let ready = 0;
  const stop = new AbortController();
  /** Aborted a moment after `stop`, to end running analyses. */
  const giveUp = new AbortController();
  setMaxListeners(0, stop.signal, giveUp.signal);
  const durations = metrics.histogram('akin_analysis_seconds', 'Time of an analysis, by its part', ['part']);
  const analysesTotal = metrics.counter('akin_analyses_total', 'Finished analyses, by outcome', ['outcome']);

  function analyze(job: Job<'analyze'>): Promise<void> {
    const { origin, bulk = false } = job.payload;
    const options = {
      kind: 'consumer',
      parent: origin?.trace ?? null,
      attributes: {
        'messaging.system': 'bullmq',
        'messaging.destination.name': 'analyze',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.message.id': job.id,
        'akin.request.id': origin?.requestId,
        'akin.bulk': bulk,
      },
    } as const;
    return inSpan('process analyze', options, async (span) => {
      const outcome = await handle(job);
      span.set({ 'akin.analysis.outcome': outcome });
    });
  }

  async function handle(job: Job<'analyze'>): Promise<string> {
    const { image: _, modules: __, bulk: ___, ...known } = job.payload;
    const trace = traceparent();
    const ref = trace === undefined ? known : { ...known, origin: { ...known.origin, trace } };
    return sendResult(ref, await resultOf(job.payload, job.id));
  }

  async function sendResult(ref: AnalysisJobRef, result: AnalysisResult): Promise<string> {
    await queue.add('analyzed', { ...ref, result }, { id: analysisJobId(ref) });
    const outcome = 'error' in result ? result.error.code : 'outputs' in result ? 'outputs' : 'handed-back';
    analysesTotal.inc({ outcome });
    return outcome;
  }

  async function resultOf(
    { image, modules = [...moduleNames], model, bulk = false, attempt, origin }: JobPayload<'analyze'>,
    job: string,
  ): Promise<AnalysisResult> {
    const urgent = !bulk;
    const { signal } = stop;
    const releases: (() => void)[] = [];
    const hold = async (acquired: Promise<() => void>) => void releases.push(await acquired);
    try {
      const releaseHost = await hosts.acquire(signal, { urgent, client: parseUrl(image)?.host ?? image });
      let bytes: Uint8Array;
      try {
        // The slot is kept until the image is analyzed, because the image stays in memory until then.
        await hold(images.acquire(signal, { urgent }));
        const max = urgent && attempt === 1 ? FIRST_DOWNLOAD_MILLISECONDS : undefined;
        const fetched = await timed('download', () => download(image, urgent, signal, max));
        releases.push(fetched.release);
        ({ bytes } = fetched);
      } finally {
        releaseHost();
      }
      countReady(1);
      releases.push(() => countReady(-1));
      await hold(analyses.acquire(signal, { urgent }));
      const { outputs, thumbnail } = await timed('analyze', () =>
        analyzer.analyze(bytes, {
          modules,
          model,
          thumbnail: true,
          signal: giveUp.signal,
        }),
      );
      return { outputs, ...(thumbnail && { thumbnail: Buffer.from(thumbnail).toString('base64') }) };
    } catch (err) {
      if (signal.aborted) return { handedBack: true };
      if (err instanceof AkinError) {
        const { code, message, retryAfterSeconds } = err;
        return {
          error: { code, msg: message },
          passing: isTransient(err),
          ...(retryAfterSeconds && { retryAfterSeconds }),
        };
      }
      log.error({ requestId: origin?.requestId, err, job, image }, 'an analysis broke down');
      return { error: { code: 'internal', msg: 'The analysis of this image failed.' }, passing: true };
    } finally {
      for (const release of releases) release();
    }
  }

  function countReady(change: 1 | -1): void {
    ready += change;
    working.allowConcurrency(ready < MAX_READY_IMAGES + threads);
  }

  async function timed<Value>(part: string, work: () => Promise<Value>): Promise<Value> {
    const stop = durations.startTimer({ part });
    try {
      return await work();
    } finally {
      stop();
    }
  }

  const working = queue.work('analyze', analyze, {
    concurrency: JOBS_AT_A_TIME,
    onFailed: ({ payload: { image, modules: _, bulk: __, ...ref } }, err, crashed) => {
      const { origin, ...job } = ref;
      const fields = { requestId: origin?.requestId, ...job, image, err };
      // The queue refused its result. The indexer finds the job missing, and queues the image again.
      if (!crashed) return log.error(fields, 'the result of an analysis could not be sent');
      log.error(fields, 'an analysis was given up');
      sendResult(ref, { error: REPEATED_CRASH_RESULT, passing: false }).catch(() => {});
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      const ended = working[Symbol.asyncDispose]();
      const reason = new Error('the analyzer ends');
      stop.abort(reason);
      const timer = setTimeout(() => giveUp.abort(reason), LAST_ANALYSIS_MILLISECONDS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Whether another attempt may succeed. `depends`: only if the error says when to try again. */
const TRANSIENT: Readonly<Record<ErrorCode, boolean | 'depends'>> = {
  'bad-request': false,
  unauthorized: false,
  forbidden: false,
  'not-found': false,
  'method-not-allowed': false,
  'request-timeout': true,
  // A conflict is a problem of this machine, such as a missing package: another analyzer may succeed.
  conflict: true,
  'too-large': false,
  'unsupported-media-type': false,
  'unsupported-image': false,
  'image-unreachable': 'depends',
  'image-undecodable': false,
  'too-many-requests': true,
  'quota-exceeded': false,
  unavailable: true,
  internal: true,
};

function isTransient(error: AkinError): boolean {
  const isTransientCode = TRANSIENT[error.code];
  return isTransientCode === 'depends' ? error.retryAfterSeconds !== undefined : isTransientCode;
}
