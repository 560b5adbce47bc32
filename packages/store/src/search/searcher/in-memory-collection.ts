import {
  type AssignedCell,
  type Candidates,
  type CollectionChange,
  type CountQuery,
  type NearPairs,
  type PairsQuery,
  type PartMatch,
  type PartQuery,
  type PointCandidate,
  type PointQuery,
  type Searcher,
  SearcherError,
  type VectorQuery,
} from '@akin/searcher';
import { currentCommit } from '../../database/collections/current-commit.ts';
import { movePin, type Pin, pinCommit, removePin } from '../../database/collections/pins.ts';
import type { Collection } from '../../database/context.ts';
import type { Transaction } from '../../database/engine/engine.ts';
import type { CollectionHandle } from './collection-handle.ts';
import { FilterCache } from './filter-cache.ts';
import { HeadsCache } from './heads-cache.ts';
import { InMemoryCells } from './in-memory-cells.ts';
import { InMemoryColumns } from './in-memory-columns.ts';
import {
  BEFORE_FIRST,
  CHUNK_ROWS,
  type Chunk,
  inPipeline,
  MAX_COMMIT,
  MAX_EXPIRED,
  type Range,
  type ReadModule,
  readChunk,
  readVectors,
} from './read-rows.ts';
import { type RowSource, readFrom } from './row-source.ts';

/**
 * The state of one collection in the searcher: its commit and its modules. One change at a time; searches continue in
 * parallel.
 */
export class InMemoryCollection {
  readonly #searcher: Searcher;
  /** Unique: a collection that is released and read again gets another one. */
  readonly #key: number;
  readonly collection: Collection;
  readonly #grown: (held: InMemoryCollection) => Promise<void>;
  readonly #modules: ReadModule[] = [];
  readonly #pointsOf: (module: string) => string | undefined;
  #commit = -1n;
  /** The greatest number of a document so far. */
  #last = -1;
  #rows = 0;
  /** Commits from this one to `#commit` can be searched. Rows that were added and ended before it may be missing. */
  #knownFrom = 0n;
  /** How often the collection was read from the beginning. */
  #begun = 0;
  /** The first chunk of a range, if {@link catchUp} has added it and left the others to {@link read}. */
  #firstChunk: (Range & { readonly last: number }) | undefined;
  #changes: Promise<unknown> = Promise.resolve();
  /** Reads missing data, for all searches that wait for it. */
  #reading: Promise<void> | undefined;
  /** Bytes that are reserved for data being read. */
  #reserved = 0;
  #isDropped = false;
  readonly cells = new InMemoryCells(this);
  readonly columns: InMemoryColumns;
  readonly filters: FilterCache;
  readonly heads: HeadsCache;
  lastUsed = performance.now();

  /**
   * @param grown called when it needs more memory; rejects with SearcherError if there is none
   * @param free bytes that it can use before other data is dropped
   * @param pointsOf the column with the points of a module, if it has points
   */
  constructor(
    searcher: Searcher,
    key: number,
    collection: Collection,
    grown: (held: InMemoryCollection) => Promise<void>,
    free: () => number,
    pointsOf: (module: string) => string | undefined = () => undefined,
  ) {
    this.#searcher = searcher;
    this.#key = key;
    this.collection = collection;
    this.#grown = grown;
    this.#pointsOf = pointsOf;
    const handle: CollectionHandle = {
      collection,
      state: () => ({ commit: this.#commit, begun: this.#begun, last: this.#last, rows: this.#rows }),
      change: (request) => this.#change(request),
      afterGrowth: () => grown(this),
      free,
    };
    this.columns = new InMemoryColumns(handle);
    this.filters = new FilterCache(handle, this.columns);
    this.heads = new HeadsCache((query) => searcher.heads(key, query), free);
  }

  /** The memory that it uses, and will use after reading. */
  get bytes(): number {
    const own = this.columns.bytes + this.cells.bytes + this.heads.bytes;
    return Math.max(this.#searcher.bytesOf(this.#key) + own, this.#reserved);
  }

  get isBeingRead(): boolean {
    return this.#reading !== undefined;
  }

  /** @param module undefined: rows are enough, as for the others */
  hasModule(module: string | undefined): boolean {
    return module === undefined || this.#modules.some(({ name }) => name === module);
  }

  /** Whether it has all live rows up to a commit, with their vectors of a module. */
  hasRowsUpTo(commit: bigint, module: string | undefined): boolean {
    return commit <= this.#commit && this.hasModule(module);
  }

  /** Whether it can answer a search of a commit by a module. */
  has(commit: bigint, module: string | undefined): boolean {
    return this.#knownFrom <= commit && commit <= this.#commit && this.hasModule(module);
  }

  /**
   * Adds the changes of a commit, in the transaction of a search that needs it.
   *
   * @returns false if that is too much for a search to wait for: then {@link read} does it
   */
  async catchUp(tx: Transaction, commit: bigint, module: string | undefined): Promise<boolean> {
    if (this.has(commit, module)) return true;
    if (this.#commit < 0n || !this.hasModule(module) || this.#reading !== undefined) return false;
    return this.#serialize(async () => {
      if (this.#commit >= commit) return this.has(commit, module);
      const after = this.#commit;
      const range = { after, upTo: commit };
      const chunk = await readChunk(tx, this.collection, range, this.#modules, BEFORE_FIRST, CHUNK_ROWS);
      if (chunk.removableUpTo > after || chunk.expired > CHUNK_ROWS) return false;
      await this.#take(chunk, this.#modules);
      if (chunk.count === CHUNK_ROWS) {
        this.#firstChunk = { ...range, last: chunk.last };
        return false;
      }
      await this.#advance(commit);
      return true;
    });
  }

  /**
   * Reads all missing data of the last commit and a module, outside of any transaction.
   *
   * @param bytes memory of the collection after that
   */
  read(source: RowSource, module: string | undefined, bytes: number): Promise<void> {
    this.#reserved = Math.max(this.#reserved, bytes);
    this.#reading ??= this.#serialize(() => this.#readAll(source, module)).finally(() => {
      this.#reading = undefined;
      this.#reserved = 0;
    });
    return this.#reading;
  }

  search(query: VectorQuery): Promise<Candidates | undefined> {
    return this.#searcher.search(this.#key, query);
  }

  count(query: CountQuery): Promise<number[] | undefined> {
    return this.#searcher.count(this.#key, query);
  }

  findParts(query: PointQuery): Promise<PointCandidate[] | undefined> {
    return this.#searcher.findParts(this.#key, query);
  }

  checkParts(query: PartQuery): Promise<(PartMatch | undefined)[]> {
    return this.#searcher.checkParts(this.#key, query);
  }

  pairs(query: PairsQuery): Promise<NearPairs | undefined> {
    return this.#searcher.pairs(this.#key, query);
  }

  async assignCells(module: string, bytes: Uint8Array, isFirst: boolean): Promise<AssignedCell[]> {
    const missing = await this.#searcher.assignCells(this.#key, module, shared(bytes), isFirst);
    await this.#grown(this);
    return missing;
  }

  /** Removes it from the searcher. A read in progress ends with the next chunk. */
  async drop(): Promise<void> {
    const dropped = this.#change({ kind: 'drop' });
    this.#isDropped = true;
    await dropped;
  }

  async #readAll(source: RowSource, module: string | undefined): Promise<void> {
    const pin = await pinCommit(source, this.collection);
    try {
      const isMissing = module !== undefined && !this.hasModule(module);
      if (isMissing && this.#commit < 0n) this.#modules.push(this.#readModuleOf(module));
      await this.#readRows(source, pin, pin.commit);
      if (module !== undefined && !this.hasModule(module)) {
        await this.#readModule(source, pin, this.#readModuleOf(module));
        this.#modules.push(this.#readModuleOf(module));
      }
      await this.#follow(source, pin);
    } finally {
      await removePin(source, pin);
    }
  }

  /**
   * Reads what was committed during a read, until a search could add the rest. The pin keeps the rows that ended: if
   * they were removed before they are read, all rows would have to be read again.
   */
  async #follow(source: RowSource, pinned: Pin): Promise<void> {
    let pin = pinned;
    for (let isMuch = true; isMuch; ) {
      const commit = await currentCommit(source.engine, this.collection);
      if (commit <= this.#commit) return;
      isMuch = (await this.#readRows(source, pin, commit)) >= CHUNK_ROWS;
      pin = await movePin(source, pin, commit);
    }
  }

  /** @returns how many rows were read @throws AkinError conflict if the pin is gone, and perhaps rows that it kept */
  async #readRows(source: RowSource, pin: Pin, upTo: bigint): Promise<number> {
    if (upTo > MAX_COMMIT) throw new Error('there were more commits than the searcher can count');
    const after = this.#commit;
    if (after >= upTo) return 0;
    if (after < 0n) {
      this.#begun++;
      this.#rows = 0;
      await this.#change({ kind: 'begin' });
    }
    const begun = this.#firstChunk;
    const isBegun = begun?.after === after && begun.upTo === upTo;
    let isForgotten = false;
    let rows = 0;
    await inPipeline(
      isBegun ? begun.last : BEFORE_FIRST,
      (behind) =>
        readFrom(
          source,
          this.collection,
          upTo,
          (tx) => readChunk(tx, this.collection, { after, upTo }, this.#modules, behind),
          // The changes of a few commits are found by the numbers of the commits, in a collection of any size.
          after < 0n,
        ),
      async (chunk) => {
        await movePin(source, pin, pin.commit);
        isForgotten ||= after >= 0n && (chunk.removableUpTo > after || chunk.expired > MAX_EXPIRED);
        rows += chunk.count + chunk.expired;
        if (!isForgotten) await this.#take(chunk, this.#modules);
      },
    );
    if (isForgotten) return this.#beginAgain(source, pin, upTo);
    await this.#advance(upTo);
    return rows;
  }

  /** Reads the collection from the beginning: the rows replaced since then are unknown, or too many. */
  #beginAgain(source: RowSource, pin: Pin, upTo: bigint): Promise<number> {
    this.filters.clear();
    this.columns.clear();
    this.#firstChunk = undefined;
    this.#commit = -1n;
    return this.#readRows(source, pin, upTo);
  }

  #readModuleOf(name: string): ReadModule {
    return { name, points: this.#pointsOf(name) };
  }

  async #readModule(source: RowSource, pin: Pin, module: ReadModule): Promise<void> {
    await inPipeline(
      BEFORE_FIRST,
      (behind) =>
        readFrom(source, this.collection, pin.commit, (tx) => readVectors(tx, this.collection, module, behind)),
      async (chunk) => {
        await movePin(source, pin, pin.commit);
        await this.#take(chunk, [module]);
      },
    );
  }

  async #take({ bytes, last, count }: Chunk, modules: readonly ReadModule[]): Promise<void> {
    this.#last = Math.max(this.#last, last);
    this.#rows += count;
    const withPoints = modules.filter(({ points }) => points !== undefined).map(({ name }) => name);
    await this.#change({ kind: 'rows', modules: modules.map(({ name }) => name), withPoints, bytes });
    await this.#grown(this);
  }

  async #advance(commit: bigint): Promise<void> {
    await this.#change({ kind: 'advance', commit: Number(commit) });
    if (commit !== this.#commit + 1n) this.#knownFrom = commit;
    this.#commit = commit;
  }

  async #change(request: CollectionChange): Promise<void> {
    if (this.#isDropped) throw new SearcherError('the collection is not in memory any more');
    return this.#searcher.change(this.#key, request);
  }

  #serialize<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(work);
    this.#changes = result.catch(() => undefined);
    return result;
  }
}

/** A copy of bytes in memory that all threads share. */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
