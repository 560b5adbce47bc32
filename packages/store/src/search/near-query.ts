import type { VectorQuery } from '@akin/searcher';

/** What is looked for among the documents that match. */
export type NearQuery = Omit<VectorQuery, 'commit' | 'filters' | 'excluded'>;
