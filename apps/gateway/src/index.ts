export type { ModelSummary } from '@akin/contract';
export { type AccessConfig, requiresKeys } from './access/gate.ts';
export { isLoopback } from './access/safety.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits, limitsForPictures } from './admission/limits.ts';
export type {
  Analysis,
  AnalyzeImage,
  Models,
  Original,
  Originals,
  WorkerServerConfig,
} from './config.ts';
export { createGateway, createWorkerServer, type Gateway, keyInstructions } from './gateway.ts';
