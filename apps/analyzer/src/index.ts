export { type AnalyzerWorkerConfig, createAnalyzerWorker } from './analyzer-worker.ts';
