/** What one request may ask of the gateway. Bytes are counted after decompression unless said otherwise. */
export interface GatewayLimits {
  /** Body of an update. It is streamed, so this is no memory. */
  readonly updateBytes: number;
  /** Form or JSON body of parameters: a picture of 25 MB as base64 with its escapes. */
  readonly parameterBytes: number;
  /** All bodies of parameters that are held at the same time. One alone is always taken. */
  readonly parameterBytesHeld: number;
  /** One parameter that is no picture and no outputs. */
  readonly parameterLength: number;
  readonly parameters: number;
  /** The most that compression may have saved, past the first 32 MB: beyond it a body is a bomb. */
  readonly compressionRatio: number;
  /** Headers must be complete by then. */
  readonly headerMilliseconds: number;
  /** A body may pause so long. */
  readonly bodyIdleMilliseconds: number;
  /** A body of parameters must be complete by then. Updates may take as long as they flow. */
  readonly parameterMilliseconds: number;
  /** An idle connection is kept for the next request so long: longer than a load balancer's minute. */
  readonly keepAliveMilliseconds: number;
  /** An update whose answer waits for its analyses gives up the wait then; the operations go on. */
  readonly analysisWaitMilliseconds: number;
  /** One picture of a query or of `/analyze`, download included. */
  readonly analyzeMilliseconds: number;
  /** Open requests get so long to end when the gateway stops. */
  readonly shutdownMilliseconds: number;
  /** What is wrong with documents is listed up to so many; the rest is counted. */
  readonly listedDetails: number;
  /** Bytes and documents that are staged at a time. */
  readonly batchBytes: number;
  readonly batchDocuments: number;
}

export const DEFAULT_GATEWAY_LIMITS: GatewayLimits = {
  updateBytes: 2 * 1024 ** 3,
  parameterBytes: 35 * 1024 ** 2,
  parameterBytesHeld: 70 * 1024 ** 2,
  parameterLength: 256 * 1024,
  parameters: 4096,
  compressionRatio: 200,
  headerMilliseconds: 30_000,
  bodyIdleMilliseconds: 60_000,
  parameterMilliseconds: 120_000,
  keepAliveMilliseconds: 65_000,
  analysisWaitMilliseconds: 600_000,
  analyzeMilliseconds: 60_000,
  shutdownMilliseconds: 10_000,
  listedDetails: 1000,
  batchBytes: 1024 ** 2,
  batchDocuments: 200,
};
