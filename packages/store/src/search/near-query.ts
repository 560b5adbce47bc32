import type { VectorQuery } from '@akin/searcher';

/** The ranking among the matching documents. */
export type NearQuery = Omit<VectorQuery, 'commit' | 'filters' | 'excluded'>;
