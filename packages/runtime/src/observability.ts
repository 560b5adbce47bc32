// Apart from the other functions, because pino and prom-client take half as long to load as Node itself: most commands
// need neither.
export { createLogger } from './logger.ts';
export { createMetrics } from './metrics.ts';
