import type { Query } from '@akin/domain';
import type { Database } from '../database/context.ts';
import type { InMemorySearch } from './searcher/in-memory-search.ts';

/** What searches use of a store. */
export interface SearchStore extends Database {
  readonly indexedFrom: number;
  readonly exactDocuments: number;
  /** Set for the requests of a key with a filter: what reads or changes documents is limited to those inside. */
  readonly keyFilter?: KeyFilter;
  readonly inMemory: InMemorySearch;
}

/** What a key with a filter may see and change: a part of each collection. */
export interface KeyFilter {
  /** A document is inside if it matches all of them. */
  readonly queries: readonly Query[];
  readonly texts: readonly string[];
  /** The fields that each document it writes gets. Undefined: it may not write. */
  readonly set: ReadonlyMap<string, string> | undefined;
  /** NOW in the queries, and its time zone. A request cannot change them. */
  readonly clock: { readonly now: Date; readonly timeZone: string };
}
