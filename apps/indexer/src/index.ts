export { createIndexer } from './indexer.ts';
