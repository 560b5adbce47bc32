import type { Candidates } from '@akin/searcher';
import type { Store } from '../context.ts';
import type { InMemoryCollection } from '../searcher/in-memory-collection.ts';
import { readValueLists } from '../searcher/in-memory-columns.ts';
import { groupColumn } from './collapse-by-field.ts';
import type { FieldCollapse } from './collapse-request.ts';
import { countedFacets } from './counted-facets.ts';
import type { Clock } from './date-math.ts';
import { InMemoryFilters } from './in-memory-filters.ts';
import type { NearQuery } from './near-query.ts';
import type { SearchRequest } from './request.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Finds candidates for one search with the searcher, as of its commit. If that fails, it finds none, and the collection
 * is removed from memory: then the database compares every match.
 */
export class InMemoryCandidates implements Disposable {
  readonly #store: Store;
  readonly #held: InMemoryCollection;
  readonly #snapshot: Snapshot;
  readonly #filters: InMemoryFilters;

  constructor(store: Store, held: InMemoryCollection, snapshot: Snapshot, clock: Clock) {
    this.#store = store;
    this.#held = held;
    this.#snapshot = snapshot;
    this.#filters = new InMemoryFilters(held, snapshot, clock, store.exactDocuments, store);
  }

  /**
   * Candidates for the nearest documents that match a search.
   *
   * @param collapsed documents that are left out, because another one represents them
   * @returns undefined if it cannot find them
   * @throws AkinError bad-request for an invalid query
   */
  nearest(request: SearchRequest, query: NearQuery, collapsed: readonly bigint[]): Promise<Candidates | undefined> {
    return this.#askOrUnload(async () => {
      const { collapseBy } = request;
      const column = collapseBy && (await this.#columnOf(collapseBy));
      await this.#filters.load(request);
      await this.#filters.exclude(collapsed);
      const matching = this.#filters.of([request.query, ...(request.filters ?? [])]);
      // Nothing is awaited until the question is sent: the column could be dropped.
      const number = column?.();
      if (collapseBy !== undefined && number === undefined) return undefined;
      const distinct = collapseBy && { column: number as number, missing: collapseBy.missing };
      const search = this.#held.search({ ...query, ...matching, distinct, commit: Number(this.#snapshot.commit) });
      const [candidates] = await Promise.all([search, this.#filters.loaded]);
      return candidates;
    });
  }

  /** All documents within a distance, whether or not they match. @returns undefined if it cannot find them */
  within(query: NearQuery): Promise<Candidates | undefined> {
    return this.#askOrUnload(() => this.#held.search({ ...query, filters: [], commit: Number(this.#snapshot.commit) }));
  }

  /**
   * Number of documents that match each `facet.query` of a search for which it found the nearest. @returns by position
   * of the facet in the request; those that it cannot count are missing
   */
  async facetCounts(request: SearchRequest): Promise<ReadonlyMap<number, number>> {
    const counted = countedFacets(request);
    if (request.rank === undefined || counted.length === 0) return new Map();
    const { module } = request.rank;
    const restrictions = counted.map(({ queries }) => this.#filters.of(queries));
    const counts = await this.#askOrUnload(() =>
      this.#held.count({ commit: Number(this.#snapshot.commit), module, restrictions }),
    );
    return new Map(counts?.map((count, i) => [counted[i]?.index as number, count]));
  }

  [Symbol.dispose](): void {
    this.#filters[Symbol.dispose]();
  }

  /** The column by which results are collapsed. @returns undefined if it cannot be in memory */
  #columnOf(collapse: FieldCollapse): Promise<(() => number | undefined) | undefined> {
    const { tx, commit } = this.#snapshot;
    return this.#held.columns.forGroups(groupColumn(collapse, this.#snapshot), commit, (name, range, max) =>
      readValueLists(tx, this.#held.collection, name, range, max),
    );
  }

  #askOrUnload<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.#store.inMemory.askOrUnload(this.#held, ask);
  }
}
