import { type AnalysisJobRef, analysisJobId, type JobPayload } from '@akin/contract';
import { AkinError, type ErrorCode } from '@akin/domain';
import type { Analyzer } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import type { Job, Queue } from '@akin/queue';
import type { Log, Metrics } from '@akin/runtime';
import { HostLimit } from './host-limit.ts';

export interface AnalyzerWorkerConfig {
  readonly queue: Queue;
  readonly analyzer: Analyzer;
  /** How many images the analyzer works on at a time. */
  readonly threads: number;
  /** Fetches the bytes behind an address, guarded. @throws AkinError */
  readonly download: (url: string, signal: AbortSignal) => Promise<Uint8Array>;
  readonly log: Log;
  readonly metrics: Metrics;
}

type AnalysisResult = JobPayload<'analyzed'>['result'];

/** For an image that broke whatever took it, again and again. */
const GIVEN_UP = {
  code: 'image-undecodable',
  msg: 'The analysis of this image did not come to an end, several times. Send another version of it.',
} as const;

/** Images that are fetched while all threads are busy: enough to hide the way over the network. */
const DOWNLOADS_AHEAD = 8;
const DOWNLOADS_PER_HOST = 6;

/**
 * Handles `analyze` jobs from now on: fetches the image, analyzes it and answers with an `analyzed` job, be it with
 * outputs or with what is wrong. It keeps nothing, so any number of workers may share a queue and end at any time.
 * Disposing takes no more jobs and waits for those at work.
 */
export function createAnalyzerWorker(config: AnalyzerWorkerConfig): AsyncDisposable {
  const { queue, analyzer, threads, download, log, metrics } = config;
  const hosts = new HostLimit(DOWNLOADS_PER_HOST);
  const durations = metrics.histogram('akin_analysis_seconds', 'Time of an analysis, by its part', ['part']);
  const ends = metrics.counter('akin_analyses_total', 'Analyses that ended, by their end', ['end']);

  async function analyze(job: Job<'analyze'>): Promise<void> {
    const { image, modules, ...ref } = job.payload;
    const result = await resultOf(image, modules ?? moduleNames, job.signal);
    // Out of time: the queue tries the job again, and nobody waits for this attempt.
    job.signal.throwIfAborted();
    await answer(ref, result);
  }

  async function answer(ref: AnalysisJobRef, result: AnalysisResult): Promise<void> {
    await queue.add('analyzed', { ...ref, result }, { id: analysisJobId(ref) });
    ends.inc({ end: 'error' in result ? result.error.code : 'outputs' });
  }

  async function resultOf(image: string, modules: readonly string[], signal: AbortSignal): Promise<AnalysisResult> {
    try {
      const bytes = await hosts.run(image, () => timed('download', () => download(image, signal)));
      const { outputs, thumbnail } = await timed('analyze', () =>
        analyzer.analyze(bytes, { modules, thumbnail: true, signal }),
      );
      return { outputs, ...(thumbnail && { thumbnail: Buffer.from(thumbnail).toString('base64') }) };
    } catch (err) {
      if (err instanceof AkinError) {
        return { error: { code: err.code, msg: err.message }, passing: isPassing(err) };
      }
      log.error({ err, image }, 'an analysis broke down');
      return { error: { code: 'internal', msg: 'The analysis of this image broke down.' }, passing: true };
    }
  }

  async function timed<Value>(part: string, work: () => Promise<Value>): Promise<Value> {
    const stop = durations.startTimer({ part });
    try {
      return await work();
    } finally {
      stop();
    }
  }

  return queue.work('analyze', analyze, {
    concurrency: threads + DOWNLOADS_AHEAD,
    onFailed: ({ payload: { image, modules: _, ...ref } }, err) => {
      log.error({ ...ref, image, err }, 'an analysis was given up');
      answer(ref, { error: GIVEN_UP, passing: false }).catch(() => {});
    },
  });
}

/** Whether the same image may go better a moment later; `depends`: where the error says after how long. */
const PASSING: Readonly<Record<ErrorCode, boolean | 'depends'>> = {
  'bad-request': false,
  unauthorized: false,
  forbidden: false,
  'not-found': false,
  'method-not-allowed': false,
  conflict: false,
  'too-large': false,
  'unsupported-media-type': false,
  'unsupported-image': false,
  'image-unreachable': 'depends',
  'image-undecodable': false,
  'too-many-requests': true,
  unavailable: true,
  internal: true,
};

function isPassing(error: AkinError): boolean {
  const passing = PASSING[error.code];
  return passing === 'depends' ? error.retryAfterSeconds !== undefined : passing;
}
