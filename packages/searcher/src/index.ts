export type { Candidates, VectorQuery } from './collection.ts';
export { Searcher, type SearcherOptions } from './searcher.ts';
export { DOC_BYTES, ROW_BYTES } from './wire.ts';
