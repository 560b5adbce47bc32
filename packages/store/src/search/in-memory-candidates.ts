import { type Candidates, LAST_PLACE, pageOfHeads, type VectorQuery } from '@akin/searcher';
import { groupColumn } from './collapse-by-field.ts';
import { countedFacets } from './counted-facets.ts';
import { InMemoryFilters } from './in-memory-filters.ts';
import type { SearchRequest } from './request.ts';
import { headsKey } from './searcher/heads-cache.ts';
import type { InMemoryCollection } from './searcher/in-memory-collection.ts';
import type { ValueColumn } from './searcher/value-lists.ts';
import type { Snapshot } from './snapshot.ts';
import type { ColumnKey } from './sort.ts';

/** A vector, and which of the nearest documents to find. */
export type NearQuery = Omit<VectorQuery, 'commit' | 'filters' | 'excluded'>;

/** The first heads behind a row, in an order. */
interface WantedHeads {
  readonly keys: readonly ColumnKey[];
  readonly wanted: number;
  /** The values of that row; undefined for none. */
  readonly after: readonly (string | undefined)[] | undefined;
}

/** Heads with the documents of a page, or all. */
interface FoundHeads {
  /** How many rows match, and how many groups these are. */
  readonly matches: number;
  readonly found: number;
  readonly docs: Float64Array;
  /** Identifies the result. Undefined: no later search has it. */
  readonly key: string | undefined;
}

/**
 * Finds candidates for one search with the searcher, as of its commit. If that fails, it finds none, and the collection
 * is removed from memory: then the database compares every match.
 */
export class InMemoryCandidates implements Disposable {
  readonly #held: InMemoryCollection;
  readonly #snapshot: Snapshot;
  readonly #filters: InMemoryFilters;

  constructor(held: InMemoryCollection, snapshot: Snapshot) {
    this.#held = held;
    this.#snapshot = snapshot;
    this.#filters = new InMemoryFilters(held, snapshot);
  }

  get #commit(): number {
    return Number(this.#snapshot.commit);
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
      const columns = collapseBy && (await this.#load([groupColumn(collapseBy, this.#snapshot)]));
      const matching = await this.#matching(request, collapsed);
      // Nothing is awaited until the question is sent: the column could be dropped.
      const [column] = columns?.() ?? [];
      if (collapseBy !== undefined && column === undefined) return undefined;
      const distinct = collapseBy && column && { column: column.number, missing: collapseBy.missing };
      const search = this.#held.search({ ...query, ...matching, distinct, commit: this.#commit });
      const [candidates] = await Promise.all([search, this.#filters.loaded]);
      return candidates;
    });
  }

  /** As {@link nearest}, among the documents that represent their groups in an order by columns. */
  nearestHeads(
    request: SearchRequest,
    query: NearQuery,
    collapsed: readonly bigint[],
    order: readonly ColumnKey[],
  ): Promise<Candidates | undefined> {
    return this.#askOrUnload(async () => {
      const heads = await this.#findHeads(request, collapsed, order);
      if (heads === undefined) return undefined;
      const filters = [await this.#filters.add(heads.docs, heads.key)];
      const search = this.#held.search({ ...query, filters, commit: this.#commit });
      const [candidates] = await Promise.all([search, this.#filters.loaded]);
      return candidates && { ...candidates, groupCount: heads.found, matches: heads.matches };
    });
  }

  /**
   * The documents that represent their groups in an order by columns.
   *
   * @param page which of them are returned; undefined: all, in any order
   * @returns undefined if it cannot find them
   */
  heads(
    request: SearchRequest,
    collapsed: readonly bigint[],
    order: readonly ColumnKey[],
    page: WantedHeads,
  ): Promise<FoundHeads | undefined> {
    return this.#askOrUnload(() => this.#findHeads(request, collapsed, order, page));
  }

  async #findHeads(
    request: SearchRequest,
    collapsed: readonly bigint[],
    order: readonly ColumnKey[],
    page?: WantedHeads,
  ): Promise<FoundHeads | undefined> {
    const { collapseBy, rank, uncached } = request;
    if (collapseBy === undefined) return undefined;
    const isSame = order.length === page?.keys.length && order.every((key, i) => isSameKey(key, page.keys[i]));
    const asked = [...order, ...((!isSame && page?.keys) || [])];
    const columns = await this.#load([groupColumn(collapseBy, this.#snapshot), ...asked.map(({ column }) => column)]);
    const matching = await this.#matching(request, collapsed);
    // Nothing is awaited until the question is sent: a column could be dropped.
    const [group, ...ordered] = columns?.() ?? [];
    if (group === undefined) return undefined;
    const keys = ordered.map((column, i) => ({
      column: column.number,
      places: column.order().places(),
      isDescending: asked[i]?.descending === true,
    }));
    const from = isSame ? 0 : order.length;
    const after = page?.after?.map((value, i) =>
      value === undefined ? LAST_PLACE : (ordered[from + i]?.order().placeOf(value) ?? LAST_PLACE),
    );
    const query = {
      ...matching,
      commit: this.#commit,
      module: rank?.module,
      keys,
      deciding: order.length,
      distinct: { column: group.number, missing: collapseBy.missing },
    };
    // Other filters have a new number in each search.
    const isKept = collapsed.length === 0 && !uncached?.size;
    const key = isKept ? headsKey(query) : undefined;
    const [heads] = await Promise.all([this.#held.heads.find(query, key), this.#filters.loaded]);
    const docs = heads && (page ? pageOfHeads(heads, query, { from, wanted: page.wanted, after }) : heads.docs);
    return heads && docs && { matches: heads.matches, found: heads.docs.length, docs, key };
  }

  /** All documents within a distance, whether or not they match. @returns undefined if it cannot find them */
  within(query: NearQuery): Promise<Candidates | undefined> {
    return this.#askOrUnload(() => this.#held.search({ ...query, filters: [], commit: this.#commit }));
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
    const counts = await this.#askOrUnload(() => this.#held.count({ commit: this.#commit, module, restrictions }));
    return new Map(counts?.map((count, i) => [counted[i]?.index as number, count]));
  }

  [Symbol.dispose](): void {
    this.#filters[Symbol.dispose]();
  }

  async #matching(request: SearchRequest, collapsed: readonly bigint[]) {
    await this.#filters.load(request);
    await this.#filters.exclude(collapsed);
    return this.#filters.of([request.query, ...(request.filters ?? [])]);
  }

  #load(columns: readonly ValueColumn[]) {
    const { tx, commit } = this.#snapshot;
    return this.#held.columns.loadWide(columns, commit, tx);
  }

  #askOrUnload<T>(ask: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.#snapshot.store.inMemory.askOrUnload(this.#held, ask);
  }
}

function isSameKey(one: ColumnKey, other: ColumnKey | undefined): boolean {
  return one.column.sql === other?.column.sql && one.descending === other.descending;
}
