import type { SemaphoreLimits } from './semaphore.ts';

/** What one request may ask of the gateway. Bytes are counted after decompression unless said otherwise. */
export interface GatewayLimits {
  /** Body of an update. It is streamed, so this is no memory. */
  readonly updateBytes: number;
  /** Form or JSON body of parameters: a picture of 25 MB as base64 with its escapes. */
  readonly parameterBytes: number;
  /** Multipart body: two pictures of 25 MB, and parameters. */
  readonly multipartBytes: number;
  /** All bodies of parameters that are held at the same time. One alone is always taken. */
  readonly parameterMemoryBytes: number;
  /** One parameter that is no picture and no outputs. */
  readonly parameterLength: number;
  readonly parameters: number;
  /** The most that compression may have saved, past the first 32 MB: beyond it a body is a bomb. */
  readonly compressionRatio: number;
  /** Headers must be complete by then. */
  readonly headerMilliseconds: number;
  /** How long a body may pause. Waiting uses this time up; bytes that arrive give it back at the minimum rate. */
  readonly bodyIdleMilliseconds: number;
  readonly bodyBytesPerSecond: number;
  /** A body of parameters must be complete by then. Updates may take as long as they flow. */
  readonly parameterMilliseconds: number;
  /** How long an idle connection is kept for the next request: longer than a load balancer's minute. */
  readonly keepAliveMilliseconds: number;
  /** An update whose answer waits for its analyses gives up the wait then; the operations go on. */
  readonly analysisWaitMilliseconds: number;
  /** One picture of a query or of `/analyze`, download included. */
  readonly analyzeMilliseconds: number;
  /** Time that open requests have to end when the gateway stops. */
  readonly shutdownMilliseconds: number;
  /** How often it is looked for reindexes whose process is gone. */
  readonly leftReindexesMilliseconds: number;
  /** Maximum number of rejected documents that an answer lists; the rest is counted. */
  readonly listedDetails: number;
  /** Pictures of a collection that wait to be analyzed: beyond it changes with pictures get 429. */
  readonly waitingAnalyses: number;
  /** Changes of a collection that are accepted and not applied yet: beyond it changes get 429. */
  readonly unappliedChanges: number;
  /** Requests that are open at a time, be they at work or waiting. Health and figures do not count. */
  readonly openRequests: number;
  /** Searches in the database: fewer than it has connections, so that changes always find one. */
  readonly searches: SemaphoreLimits;
  /** Updates of more than a few changes while they are being accepted. */
  readonly bulkUpdates: SemaphoreLimits;
  /** Pictures of queries and of `/analyze`: those whose bytes came with the request, and those to be fetched. */
  readonly sentPictures: SemaphoreLimits;
  readonly fetchedPictures: SemaphoreLimits;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  leftReindexesMilliseconds: 10_000,
  updateBytes: 2 * 1024 ** 3,
  parameterBytes: 35 * 1024 ** 2,
  multipartBytes: 60 * 1024 ** 2,
  parameterMemoryBytes: 70 * 1024 ** 2,
  parameterLength: 256 * 1024,
  parameters: 4096,
  compressionRatio: 200,
  headerMilliseconds: 30_000,
  bodyIdleMilliseconds: 60_000,
  bodyBytesPerSecond: 256,
  parameterMilliseconds: 120_000,
  keepAliveMilliseconds: 65_000,
  analysisWaitMilliseconds: 600_000,
  analyzeMilliseconds: 60_000,
  shutdownMilliseconds: 10_000,
  listedDetails: 1000,
  waitingAnalyses: 500_000,
  unappliedChanges: 2_000_000,
  openRequests: 2_000,
  searches: { concurrent: 8, queued: 200, queueMilliseconds: 20_000 },
  bulkUpdates: { concurrent: 4, queued: 12, queueMilliseconds: 30_000, fair: true },
  sentPictures: { concurrent: 16, queued: 48, queueMilliseconds: 10_000, fair: true },
  fetchedPictures: { concurrent: 16, queued: 48, queueMilliseconds: 10_000, fair: true },
};
