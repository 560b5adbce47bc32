export type { Candidates, VectorQuery } from './collection.ts';
export { Searcher, SearcherError, type SearcherOptions } from './searcher.ts';
