export { type AccessConfig, asksForKeys } from './access/gate.ts';
export type { Analysis, AnalyzeImage, CommitChanges, DoorConfig, GatewayConfig, GatewayMetrics } from './config.ts';
export { createDoor, createGateway, type Gateway, HOW_TO_MAKE_A_KEY } from './gateway.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './limits.ts';
