export { createAnalyzerWorker } from './analyzer-worker.ts';
export { measured } from './measured.ts';
