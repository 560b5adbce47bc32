export type { Candidates, VectorQuery } from './collection.ts';
export { Searcher, SearcherError, type SearcherOptions } from './searcher.ts';
export { DOC_BYTES, ROW_BYTES } from './wire.ts';
