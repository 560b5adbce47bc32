import type { VectorQuery } from '@akin/searcher';

/** A vector, and which of the nearest documents to find. */
export type NearQuery = Omit<VectorQuery, 'commit' | 'filters' | 'excluded'>;
