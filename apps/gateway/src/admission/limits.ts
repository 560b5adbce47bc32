import type { HostPatienceLimits } from '@akin/store/changes';

export interface SemaphoreLimits {
  readonly concurrent: number;
  /** Requests that may wait. Further ones are refused. */
  readonly queued: number;
  /** A request that waits longer, or probably would, is refused. */
  readonly queueMilliseconds: number;
  /** Whether one client may take only its share of the slots and of the queue. */
  readonly fair?: boolean;
}

/** Limits of one request to the gateway. Bytes are counted after decompression unless stated otherwise. */
export interface GatewayLimits {
  /** Body of an update. It is streamed, so this is not memory. */
  readonly updateBytes: number;
  /** One uploaded picture. The analyzer has its own limits. */
  readonly pictureBytes: number;
  /** Form or JSON body of parameters: a picture as base64 with escapes. */
  readonly parameterBytes: number;
  /** Multipart body: two pictures, and parameters. */
  readonly multipartBytes: number;
  /** All bodies of parameters in memory at the same time. A single one is always accepted. */
  readonly parameterMemoryBytes: number;
  /** One parameter that is not a picture or outputs. */
  readonly parameterLength: number;
  readonly parameters: number;
  /** Maximum compression ratio after the first 32 MB. Beyond it a body is a decompression bomb. */
  readonly compressionRatio: number;
  readonly headerMilliseconds: number;
  /** How long a body may pause. Waiting uses this time up; arriving bytes give it back at the minimum rate. */
  readonly bodyIdleMilliseconds: number;
  readonly bodyBytesPerSecond: number;
  /** Time limit for a body of parameters. Updates have no limit while bytes arrive. */
  readonly parameterMilliseconds: number;
  /** How long an idle connection is kept: longer than the minute of a load balancer. */
  readonly keepAliveMilliseconds: number;
  /**
   * Time limit for a request from the last bytes of its body to its response. No work that akin waits for takes so long:
   * it ends what hangs.
   */
  readonly answerMilliseconds: number;
  /** After this time, an update no longer waits for its analyses. The operations continue. */
  readonly analysisWaitMilliseconds: number;
  /** How long an update waits for pictures of hosts that do not deliver. */
  readonly hostPatience: HostPatienceLimits;
  /** One picture of a query or of `/analyze`, including its download. */
  readonly analyzeMilliseconds: number;
  /** Time for open requests to end when the gateway stops. */
  readonly shutdownMilliseconds: number;
  /** Interval of the search for reindexes whose process has ended. */
  readonly orphanedReindexesMilliseconds: number;
  /** Maximum number of rejected documents in a response. The rest is only counted. */
  readonly listedDetails: number;
  /** Pictures of a collection that wait for analysis. Above it, changes with pictures get 429. */
  readonly waitingAnalyses: number;
  /** Changes of a collection that are accepted and not applied yet. Above it, changes get 429. */
  readonly unappliedChanges: number;
  /** Open requests, running or waiting. Health and metrics do not count. */
  readonly openRequests: number;
  /** Searches in the database: fewer than its connections, so that changes always find one. */
  readonly searches: SemaphoreLimits;
  /** Updates with more than a few changes while they are being accepted. */
  readonly bulkUpdates: SemaphoreLimits;
  /** Query pictures and pictures of `/analyze`: uploaded ones, and those to be fetched. */
  readonly sentPictures: SemaphoreLimits;
  readonly fetchedPictures: SemaphoreLimits;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  orphanedReindexesMilliseconds: 10_000,
  updateBytes: 2 * 1024 ** 3,
  pictureBytes: 25_000_000,
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
  answerMilliseconds: 900_000,
  analysisWaitMilliseconds: 600_000,
  // With the last check and a commit, an update of one picture answers within 25 seconds.
  hostPatience: { total: 23_000, afterFailure: 8_000 },
  analyzeMilliseconds: 60_000,
  shutdownMilliseconds: 10_000,
  listedDetails: 1000,
  waitingAnalyses: 500_000,
  unappliedChanges: 2_000_000,
  openRequests: 2_000,
  searches: { concurrent: 8, queued: 200, queueMilliseconds: 5_000 },
  bulkUpdates: { concurrent: 4, queued: 12, queueMilliseconds: 30_000, fair: true },
  sentPictures: { concurrent: 16, queued: 48, queueMilliseconds: 10_000, fair: true },
  fetchedPictures: { concurrent: 16, queued: 48, queueMilliseconds: 10_000, fair: true },
};

/** Limits that let pictures of this size in, and the bodies that contain them. */
export function limitsForPictures(pictureBytes: number): Partial<GatewayLimits> {
  const { parameterBytes, multipartBytes } = DEFAULT_GATEWAY_LIMITS;
  return {
    pictureBytes,
    parameterBytes: Math.max(parameterBytes, Math.ceil(pictureBytes * 1.45)),
    multipartBytes: Math.max(multipartBytes, Math.ceil(pictureBytes * 2.5)),
  };
}
