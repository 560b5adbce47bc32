export type { Analysis, AnalyzeImage, CommitChanges, GatewayConfig, GatewayMetrics } from './config.ts';
export { createGateway, type Gateway } from './gateway.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './limits.ts';
