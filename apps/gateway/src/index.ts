export { type AccessConfig, asksForKeys } from './access/gate.ts';
export type { Analysis, AnalyzeImage, CommitChanges, DoorConfig, GatewayConfig, GatewayMetrics } from './config.ts';
export { createDoor, createGateway, type Gateway, howToMakeAKey } from './gateway.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './limits.ts';
