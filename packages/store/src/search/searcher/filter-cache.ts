import { type DocNumbers, SearcherError } from '@akin/searcher';
import type { CollectionHandle } from './collection-handle.ts';
import type { InMemoryColumns } from './in-memory-columns.ts';
import { type AskedFilter, type MatchReader, type MatchRequest, packed } from './match-reader.ts';

/** A filter whose matches are in the searcher. */
interface InMemoryFilter {
  readonly number: number;
  /** It contains the matches among rows that were added up to this commit. */
  commit: bigint;
  /** Number of searches that use it now. */
  users: number;
}

export interface LoadedFilters {
  /** The number of each. */
  readonly filters: readonly number[];
  readonly loaded: Promise<void>;
}

/** Maximum number of filters per collection: each needs one bit per row. */
const MAX_FILTERS = 200;

/**
 * The filters of one collection whose matches are in the searcher. All matches are read once, and later only those that
 * commits added.
 */
export class FilterCache {
  readonly #handle: CollectionHandle;
  readonly #columns: InMemoryColumns;
  readonly #filters = new Map<string, InMemoryFilter>();
  /** Filters of running searches that are not cached. */
  readonly #once = new Set<number>();
  #next = 0;
  #dropping: Promise<void> = Promise.resolve();

  constructor(handle: CollectionHandle, columns: InMemoryColumns) {
    this.#handle = handle;
    this.#columns = columns;
  }

  /**
   * Loads the matches of filters as of a commit. The caller may send requests that use them before `loaded` resolves,
   * because the searcher handles requests in order. Release the filters with {@link release}.
   */
  async load(asked: readonly AskedFilter[], commit: bigint, reader: MatchReader): Promise<LoadedFilters> {
    const filters = asked.map(({ key }) => this.#use(key));
    const { begun } = this.#handle.state();
    try {
      await this.#dropOldest();
      const wanted: MatchRequest[] = [];
      const changes: Promise<void>[] = [];
      for (const [index, filter] of filters.entries()) {
        if (filter.commit >= commit) continue;
        const byValues = await this.#byValues(filter, asked[index]?.test, commit, reader);
        if (byValues === undefined) wanted.push({ index, after: filter.commit });
        else changes.push(byValues.sent);
      }
      const matches = wanted.length === 0 ? [] : await reader.read(wanted, this.#handle.state().last);
      if (wanted.length > 0) this.#requireSame(begun);
      for (const [i, { index }] of wanted.entries()) {
        const filter = filters[index] as InMemoryFilter;
        changes.push(
          this.#handle.change({ kind: 'filter', filter: filter.number, docs: packed(matches[i] as DocNumbers) }),
        );
        filter.commit = filter.commit > commit ? filter.commit : commit;
        const { test } = asked[index] as AskedFilter;
        if (test && reader.values) this.#columns.recordMiss(test.column, reader.values.source);
      }
      const loaded =
        changes.length === 0 ? Promise.resolve() : Promise.all(changes).then(() => this.#handle.afterGrowth());
      // The failure is handled where the result is awaited.
      loaded.catch(() => undefined);
      return { filters: filters.map(({ number }) => number), loaded };
    } catch (error) {
      this.release(filters.map(({ number }) => number));
      throw error;
    }
  }

  /** @returns undefined if values in memory do not determine the matches of a filter */
  async #byValues(
    filter: InMemoryFilter,
    test: AskedFilter['test'],
    commit: bigint,
    { values }: MatchReader,
  ): Promise<{ readonly sent: Promise<void> } | undefined> {
    if (values === undefined || test === undefined) return undefined;
    const { begun } = this.#handle.state();
    const matches = await this.#columns.setMatches(filter, test, commit, values.tx);
    if (matches === undefined) return undefined;
    matches.sent.catch(() => undefined);
    this.#requireSame(begun);
    filter.commit = filter.commit > commit ? filter.commit : commit;
    return matches;
  }

  #use(key: string | undefined): InMemoryFilter {
    const known = key === undefined ? undefined : this.#filters.get(key);
    const filter = known ?? { number: this.#next++, commit: -1n, users: 0 };
    filter.users++;
    if (key === undefined) {
      this.#once.add(filter.number);
    } else {
      // The most recently used one is the last in the map.
      this.#filters.delete(key);
      this.#filters.set(key, filter);
    }
    return filter;
  }

  /**
   * Drops the filters that no search uses now, and columns. Their memory is free when this resolves, also for a second
   * caller.
   */
  dropUnused(): Promise<void> {
    this.#dropping = this.#dropping.catch(() => undefined).then(() => this.#dropNow());
    return this.#dropping;
  }

  async #dropNow(): Promise<void> {
    await this.#columns.drop();
    const unused = [...this.#filters].filter(([, { users }]) => users === 0);
    for (const [key] of unused) this.#filters.delete(key);
    await Promise.all(unused.map(([, { number }]) => this.#handle.change({ kind: 'drop-filter', filter: number })));
  }

  /** Ends the use of filters by one search. */
  release(numbers: readonly number[]): void {
    for (const filter of numbers) {
      for (const held of this.#filters.values()) if (held.number === filter) held.users--;
      // If this fails, the filter is dropped with the collection.
      if (this.#once.delete(filter)) this.#handle.change({ kind: 'drop-filter', filter }).catch(() => undefined);
    }
  }

  get count(): number {
    return this.#filters.size + this.#once.size;
  }

  /** Forgets all filters, because the searcher has dropped them: the collection is read again. */
  clear(): void {
    this.#filters.clear();
  }

  /** @throws SearcherError if the collection was read again in the meantime */
  #requireSame(begun: number): void {
    const now = this.#handle.state();
    if (begun !== now.begun || now.commit < 0n) throw new SearcherError('the collection was read again');
  }

  /** Drops the least recently used filters, if there are too many. */
  async #dropOldest(): Promise<void> {
    for (const [key, filter] of this.#filters) {
      if (this.#filters.size <= MAX_FILTERS) return;
      if (filter.users > 0) continue;
      this.#filters.delete(key);
      await this.#handle.change({ kind: 'drop-filter', filter: filter.number });
    }
  }
}
