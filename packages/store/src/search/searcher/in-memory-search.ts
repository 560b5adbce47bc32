import { availableParallelism } from 'node:os';
import { AkinError } from '@akin/domain';
import { memoryLimit } from '@akin/runtime';
import { Searcher, SearcherError } from '@akin/searcher';
import type { Collection } from '../../database/context.ts';
import type { Transaction } from '../../database/engine/engine.ts';
import { InMemoryCollection } from './in-memory-collection.ts';
import type { NeededInMemory } from './needed-in-memory.ts';
import type { RowSource } from './row-source.ts';

/** Memory of a collection is freed after this time without a search. */
const IDLE_MILLISECONDS = 15 * 60_000;
/** Maximum number of searches at a time that compare every match of a large collection in the database. */
const MAX_IN_DATABASE = 2;
/** Maximum bytes per document for its position in a cell. */
const PLACE_BYTES = 16;
/** Part of the memory of the process that is used by default. */
const DEFAULT_SHARE = 0.15;

/** Default bytes for vectors and filters. */
export function defaultSearchMemory(): number {
  return DEFAULT_SHARE * memoryLimit();
}

export interface InMemorySearchOptions {
  /** Collections of up to this many rows are compared exactly. */
  readonly exactRows: number;
  /** Bytes for vectors and filters. Default: 15 % of the memory that the process may use. */
  readonly memory?: number | undefined;
  /** The column with the points of a module, if it has points. */
  readonly pointsOf?: (module: string) => string | undefined;
}

/** The collections whose vectors are in memory, as many as fit: the least recently searched one is removed first. */
export class InMemorySearch implements AsyncDisposable {
  /** How long a search waits for its collection to be read into memory. Tests wait until it is there. */
  static maxWaitMilliseconds = 3_000;

  readonly #searcher: Searcher;
  readonly #memory: number;
  /** By number of the collection. */
  readonly #held = new Map<number, InMemoryCollection>();
  /** When collections outgrew the memory. */
  readonly #tooLargeSince = new Map<number, number>();
  readonly #pointsOf: (module: string) => string | undefined;
  #nextKey = 0;
  #inDatabase = 0;

  constructor({ exactRows, memory = defaultSearchMemory(), pointsOf = () => undefined }: InMemorySearchOptions) {
    this.#pointsOf = pointsOf;
    this.#memory = memory;
    // Threads work for some milliseconds at a time; a database on the same machine takes turns with them.
    const threads = Math.min(4, availableParallelism());
    this.#searcher = new Searcher({ threads, exactRows });
  }

  /** Bytes that are used, and allowed. */
  get use(): {
    readonly bytes: number;
    readonly limit: number;
    readonly collections: number;
    readonly filters: number;
  } {
    let [filters, bytes] = [0, this.#searcher.bytes];
    for (const held of this.#held.values()) {
      filters += held.filters.count;
      bytes += held.columns.bytes + held.cells.bytes + held.heads.bytes;
    }
    return { bytes, limit: this.#memory, collections: this.#held.size, filters };
  }

  /**
   * The data of a collection, for a search in the transaction of `tx`.
   *
   * @returns undefined if {@link read} must read it first, outside of transactions
   */
  async find(
    collection: Collection,
    tx: Transaction,
    commit: bigint,
    module: string | undefined,
  ): Promise<InMemoryCollection | undefined> {
    const held = this.#held.get(collection.id);
    if (held === undefined) return undefined;
    const isThere = await this.askOrUnload(held, () => held.catchUp(tx, commit, module));
    held.lastUsed = performance.now();
    return isThere ? held : undefined;
  }

  /**
   * Reads a collection into memory, if there is space for it.
   *
   * @param maxWaitMilliseconds at most {@link InMemorySearch.maxWaitMilliseconds}, the default
   * @param signal ends the waiting
   * @returns false if there is no space, or reading has failed or takes longer: in the last case it continues
   */
  async read(
    source: RowSource,
    collection: Collection,
    missing: NeededInMemory,
    maxWaitMilliseconds = InMemorySearch.maxWaitMilliseconds,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const { module } = missing;
    const held = this.#held.get(collection.id) ?? this.#create(collection);
    const bytes = this.#bytesWith(held, missing);
    if (!held.isBeingRead && (this.#hasOutgrown(collection) || !this.#evictFor(held, bytes))) return false;
    this.#held.set(collection.id, held);
    held.lastUsed = performance.now();
    const reading = held.read(source, module, held.isBeingRead ? 0 : bytes).then(
      () => true,
      async (error: unknown) => {
        if (error instanceof SearcherError) await this.unload(held);
        return false;
      },
    );
    let timer: NodeJS.Timeout | undefined;
    let stop = () => {};
    const late = new Promise<false>((resolve) => {
      stop = () => resolve(false);
      timer = setTimeout(stop, Math.min(maxWaitMilliseconds, InMemorySearch.maxWaitMilliseconds));
      signal?.addEventListener('abort', stop);
    });
    if (signal?.aborted) stop();
    return Promise.race([reading, late]).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    });
  }

  /**
   * As {@link find} and {@link read}, for background work, which takes no memory from searched collections.
   *
   * @param isWorthReading whether the work is large enough to read a missing module for it
   * @returns undefined if the data is not available, or not in time
   */
  async findForBackground(
    source: RowSource,
    collection: Collection,
    wanted: NeededInMemory,
    {
      commit,
      isWorthReading,
      signal,
    }: { readonly commit: bigint; readonly isWorthReading: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<InMemoryCollection | undefined> {
    const { module } = wanted;
    const before = this.#held.get(collection.id);
    const searchedAt = before?.lastUsed;
    // The documents will be assigned to cells, which also need memory.
    if (before?.cells.version === undefined && !this.hasSpaceFor(collection, wanted)) return undefined;
    if (!before?.hasRowsUpTo(commit, module)) {
      if (!before?.hasModule(module) && !isWorthReading) return undefined;
      if (!(await this.read(source, collection, wanted, undefined, signal))) return undefined;
    }
    const held = this.#held.get(collection.id);
    if (!held?.hasRowsUpTo(commit, module)) return undefined;
    // Data without searches is removed before data with searches.
    if (searchedAt !== undefined) held.lastUsed = searchedAt;
    return held;
  }

  /** The data of a collection, whatever its commit. */
  loadedCollection(id: number): InMemoryCollection | undefined {
    return this.#held.get(id);
  }

  /**
   * For a search that may have to compare every match of a large collection in the database: few do so at a time.
   *
   * @returns `take` must be called before that; it throws AkinError unavailable if there are too many already
   */
  databaseTurn(): Disposable & { take(): void } {
    let isTaken = false;
    return {
      take: () => {
        if (this.#inDatabase === MAX_IN_DATABASE && !isTaken) {
          throw new AkinError(
            'unavailable',
            'This search must compare all documents in the database, because it cannot be answered from memory, and as many such searches as are possible run already. Search again in a few seconds.',
            { retryAfterSeconds: 3 },
          );
        }
        if (!isTaken) this.#inDatabase++;
        isTaken = true;
      },
      [Symbol.dispose]: () => {
        if (isTaken) this.#inDatabase--;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#held.clear();
    await this.#searcher[Symbol.asyncDispose]();
  }

  /** Removes a collection from memory. The next search reads it again. */
  async unload(held: InMemoryCollection): Promise<void> {
    const { id } = held.collection;
    if (this.#held.get(id) === held) this.#held.delete(id);
    await held.drop().catch(() => undefined);
  }

  /** Removes all collections, because their data may be wrong. */
  unloadAll(): void {
    for (const held of this.#held.values()) void this.unload(held);
  }

  /** Removes a dropped collection. */
  async unloadCollection(id: number): Promise<void> {
    this.#tooLargeSince.delete(id);
    const held = this.#held.get(id);
    if (held !== undefined) await this.unload(held);
  }

  /** Asks the searcher about a collection. Undefined if the searcher has lost it: then it is forgotten here too. */
  async askOrUnload<T>(held: InMemoryCollection, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SearcherError)) throw error;
      await this.unload(held);
      return undefined;
    }
  }

  #create(collection: Collection): InMemoryCollection {
    const grown = (held: InMemoryCollection) => this.#grown(held);
    const free = () => this.#memory - this.#taken;
    return new InMemoryCollection(this.#searcher, this.#nextKey++, collection, grown, free, this.#pointsOf);
  }

  #bytesWith(held: InMemoryCollection | undefined, { module, documents, dimensions }: NeededInMemory): number {
    const rows = this.#searcher.bytesFor(documents, dimensions);
    if (held === undefined) return rows;
    return held.hasModule(module) ? Math.max(rows, held.bytes) : rows + held.bytes;
  }

  /** Whether a collection, with its cells, fits into memory together with the recently used ones. */
  hasSpaceFor(collection: Collection, wanted: NeededInMemory): boolean {
    const { id } = collection;
    if (this.#hasOutgrown(collection)) return false;
    const longAgo = performance.now() - IDLE_MILLISECONDS;
    let bytes = this.#bytesWith(this.#held.get(id), wanted) + PLACE_BYTES * wanted.documents;
    for (const held of this.#held.values()) {
      if (held.collection.id !== id && (held.isBeingRead || held.lastUsed > longAgo)) bytes += held.bytes;
    }
    return bytes <= this.#memory;
  }

  #hasOutgrown({ id }: Collection): boolean {
    const at = this.#tooLargeSince.get(id);
    if (at === undefined || performance.now() - at < IDLE_MILLISECONDS) return at !== undefined;
    this.#tooLargeSince.delete(id);
    return false;
  }

  /**
   * Removes idle data, and then the least recently searched data, until a collection may use a number of bytes. Data
   * being read stays. @returns false, without changes, if that is not enough
   */
  #evictFor(wanted: InMemoryCollection, bytes: number): boolean {
    const others = [...this.#held.values()].filter((held) => held !== wanted);
    const staying = others.filter(({ isBeingRead }) => isBeingRead);
    const sum = (all: readonly InMemoryCollection[]) => all.reduce((total, held) => total + held.bytes, 0);
    if (bytes + sum(staying) > this.#memory) return false;
    const longAgo = performance.now() - IDLE_MILLISECONDS;
    let taken = bytes + sum(others);
    for (const held of others.sort((a, b) => a.lastUsed - b.lastUsed)) {
      if (held.isBeingRead || (taken <= this.#memory && held.lastUsed > longAgo)) continue;
      taken -= held.bytes;
      // This is not awaited, because the threads handle requests in order.
      void this.unload(held);
    }
    return true;
  }

  /** Bytes that are used or reserved. */
  get #taken(): number {
    return [...this.#held.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Frees memory after a collection has grown. It first drops unused filters of this collection, then other
   * collections, and finally refuses this collection.
   */
  async #grown(held: InMemoryCollection): Promise<void> {
    const fits = () => this.#taken <= this.#memory;
    if (fits()) return;
    held.heads.clear();
    await held.filters.dropUnused();
    if (fits() || this.#evictFor(held, held.bytes)) return;
    this.#tooLargeSince.set(held.collection.id, performance.now());
    throw new SearcherError('the collection has grown beyond the memory for searches');
  }
}
