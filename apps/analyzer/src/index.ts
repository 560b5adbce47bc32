export { createAnalyzerWorker } from './analyzer-worker.ts';
export { withMetrics } from './with-metrics.ts';
