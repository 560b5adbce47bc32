import { ERROR_CODES } from '@akin/domain';
import { z } from 'zod';

/** Names one attempt at one analysis, as in the database. The result of an older attempt is dropped. */
const ANALYSIS_REF = z.object({
  /** Number of the collection. The number of a dropped collection is never used again. */
  collection: z.int(),
  /** Digits of a 64-bit number. */
  request: z.string().regex(/^\d+$/),
  /** Position of the document within its request, from 0. */
  position: z.int(),
  /** From 1. */
  attempt: z.int(),
  /** The content model, as outputs name it. Absent: that of the analyzer. */
  model: z.string().optional(),
  /** The origin of the job, for log lines and spans. */
  origin: z
    .object({
      /** Id of the request that sent the image. */
      requestId: z.string().optional(),
      /** The `traceparent` of the span that the job is part of. */
      trace: z.string().optional(),
    })
    .optional(),
});

/** What one kind of job contains, and how the queue treats it. */
interface JobKind<Payload extends z.ZodType = z.ZodType> {
  readonly payload: Payload;
  /** Number of attempts before the job counts as failed. */
  readonly attempts: number;
  /** Milliseconds before the second attempt. The delay doubles with each further attempt. */
  readonly backoff: number;
  /** Time limit of one attempt in milliseconds. Absent: the handler limits each of its steps. */
  readonly timeout?: number;
}

const jobKind = <Payload extends z.ZodType>(one: JobKind<Payload>) => one;

/**
 * The catalogue of jobs. State lives in the database. A job is a hint: it may be lost, run twice, or arrive late. Its
 * handler does nothing if the state has changed since. The database also decides whether an image is worth another try;
 * the attempts here are for failures of the queue and of processes.
 */
export const JOBS = {
  /** An image waits to be analyzed. Handled by analyzers, which answer each with an `analyzed` job. */
  analyze: jobKind({
    payload: ANALYSIS_REF.extend({
      /** URL of the image. */
      image: z.string(),
      /** Names of modules. Absent: all modules. */
      modules: z.array(z.string()).optional(),
      /** True for an image of a large request. Images that a client may wait for come first. */
      bulk: z.boolean().optional(),
    }),
    attempts: 3,
    backoff: 1_000,
    // No limit: an analyzer takes many jobs, and most of them wait for the others. Downloads and analyses have limits.
  }),
  /** An analysis ended. Handled by the indexer, which stores the result. */
  analyzed: jobKind({
    payload: ANALYSIS_REF.extend({
      result: z.union([
        z.object({
          /** JSON text. */
          outputs: z.string(),
          /** WebP in base64. */
          thumbnail: z.string().optional(),
        }),
        z.object({
          error: z.object({ code: z.enum(ERROR_CODES), msg: z.string() }),
          /** Whether a later attempt may succeed. */
          passing: z.boolean(),
          /** The least number of seconds until then. */
          retryAfterSeconds: z.number().optional(),
        }),
        // The analyzer shuts down and has not started the job. Another analyzer takes it.
        z.object({ handedBack: z.literal(true) }),
      ]),
    }),
    attempts: 10,
    backoff: 500,
    timeout: 60_000,
  }),
} as const;

export type JobName = keyof typeof JOBS;
export type JobPayload<Name extends JobName> = z.infer<(typeof JOBS)[Name]['payload']>;
export type AnalysisJobRef = z.infer<typeof ANALYSIS_REF>;

/**
 * The id of the jobs of one attempt. It differs from that of any other attempt and contains no `:`, which BullMQ
 * refuses.
 */
export function analysisJobId({ collection, request, position, attempt }: AnalysisJobRef): string {
  return `${collection}-${request}-${position}-${attempt}`;
}
