import type { CollectionChange } from '@akin/searcher';
import type { Collection } from '../../database/context.ts';

/** The part of {@link InMemoryCollection} that its filters and columns use. */
export interface CollectionHandle {
  readonly collection: Collection;
  /**
   * The last commit in memory, how often the collection was read from the beginning, the greatest document number, and
   * how many rows were added since that beginning.
   */
  state(): { readonly commit: bigint; readonly begun: number; readonly last: number; readonly rows: number };
  change(request: CollectionChange): Promise<void>;
  /** Call this after data was added. @throws SearcherError if there is no memory for it */
  afterGrowth(): Promise<void>;
  /** Bytes that can be used before other data is dropped. */
  free(): number;
}
