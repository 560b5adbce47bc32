export { createIndexer, type Indexer, type IndexerConfig } from './indexer.ts';
