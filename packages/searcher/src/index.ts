export type { Candidates, CountQuery, VectorQuery } from './collection.ts';
export { Searcher, SearcherError, type SearcherOptions } from './searcher.ts';
