import type { Searcher } from '@akin/searcher';
import type { ReadCollection } from './read-rows.ts';

/** What filters and columns in memory need of their collection: see InMemoryCollection. */
export interface Holder {
  readonly collection: ReadCollection;
  /** The last commit in memory, how often all rows were read, and the greatest number of a document. */
  state(): { readonly commit: bigint; readonly begun: number; readonly last: number };
  change(request: Change): Promise<void>;
  /** To be called after more memory was taken. @throws SearcherError if there is no more */
  grown(): Promise<void>;
  /** Bytes that may be taken before other data is dropped for them. */
  free(): number;
}

/** A change of one collection in the searcher. */
export type Change = Without<Parameters<Searcher['change']>[1], 'key'>;
type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
