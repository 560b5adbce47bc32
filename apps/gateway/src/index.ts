export type { Analysis, AnalyzeImage, CommitChanges, DoorConfig, GatewayConfig, GatewayMetrics } from './config.ts';
export { createDoor, createGateway, type Gateway } from './gateway.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './limits.ts';
