export { type AccessConfig, requiresKeys } from './access/gate.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits, limitsForPictures } from './admission/limits.ts';
export type {
  Analysis,
  AnalyzeImage,
  ModelSummary,
  Models,
  Original,
  Originals,
  WorkerServerConfig,
} from './config.ts';
export { createGateway, createWorkerServer, type Gateway, keyInstructions } from './gateway.ts';
export { isLoopback } from './http/safety.ts';
