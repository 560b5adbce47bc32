import {
  type Candidates,
  type CountQuery,
  type DocNumbers,
  type NearPairs,
  type PairsQuery,
  type Searcher,
  SearcherError,
  type VectorQuery,
} from '@akin/searcher';
import type { Transaction } from '../engine/engine.ts';
import { pinCommit, removePin } from '../export/pins.ts';
import { InMemoryCells } from './in-memory-cells.ts';
import { InMemoryColumns } from './in-memory-columns.ts';
import { type MatchReader, packed, type WantedMatches } from './match-reader.ts';
import {
  CHUNK_ROWS,
  type Chunk,
  inTurns,
  LAST_COMMIT,
  lowestNumberOf,
  MAX_ENDS,
  type ReadCollection,
  readChunk,
  readVectors,
} from './read-rows.ts';
import { type RowSource, readFrom } from './row-source.ts';

/** A filter whose matches are in the searcher. */
interface InMemoryFilter {
  readonly number: number;
  /**
   * Whether it contains the documents that do not match instead, which are fewer. Undefined until the first are read.
   */
  isComplement?: boolean;
  /** It contains the matches among rows that were added up to this commit. */
  commit: bigint;
  /** Number of searches that use it now. */
  users: number;
}

/** Filters of one search. */
export interface LoadedFilters {
  readonly filters: readonly { readonly number: number; readonly isComplement: boolean }[];
  readonly loaded: Promise<void>;
}

/** Waits for its turn, then runs the work. */
export type InTurn = (work: () => Promise<void>) => Promise<void>;

/** Maximum number of filters per collection: each needs one bit per row. */
const MAX_FILTERS = 200;

/**
 * The state of one collection in the searcher: its commit, its modules and its filters. One change at a time; searches
 * continue in parallel.
 */
export class InMemoryCollection {
  readonly #searcher: Searcher;
  /** Unique: a collection that is released and read again gets another one. */
  readonly #key: number;
  readonly collection: ReadCollection;
  readonly #grown: (held: InMemoryCollection) => Promise<void>;
  readonly #exactRows: number | undefined;
  readonly #modules: string[] = [];
  readonly #filters = new Map<string, InMemoryFilter>();
  /** Filters of running searches that are not cached. */
  readonly #once = new Set<number>();
  #commit = -1n;
  /** The greatest number of a document so far. */
  #last = -1;
  /** From this commit on, each one up to `#commit` is known. Rows that were added and removed between them are not. */
  #knownFrom = 0n;
  /** Number of complete reads. */
  #begun = 0;
  #nextFilter = 0;
  #changes: Promise<unknown> = Promise.resolve();
  /** Reads missing data, for all searches that wait for it. */
  #reading: Promise<void> | undefined;
  /** Bytes that are reserved for data being read. */
  #reserved = 0;
  #isDropped = false;
  #dropping: Promise<void> = Promise.resolve();
  readonly cells = new InMemoryCells(this);
  readonly columns: InMemoryColumns;
  lastUsed = performance.now();

  /**
   * @param grown called if it needs more memory than before; rejects with SearcherError if there is none
   * @param free bytes that it can take before other data is dropped for it
   * @param exactRows up to this many rows are compared exactly; default: that of the searcher
   */
  constructor(
    searcher: Searcher,
    key: number,
    collection: ReadCollection,
    grown: (held: InMemoryCollection) => Promise<void>,
    free: () => number,
    exactRows?: number,
  ) {
    this.#searcher = searcher;
    this.#key = key;
    this.collection = collection;
    this.#grown = grown;
    this.#exactRows = exactRows;
    this.columns = new InMemoryColumns({
      collection,
      state: () => ({ commit: this.#commit, begun: this.#begun }),
      change: (request) => this.#change(request),
      grown: () => grown(this),
      free,
    });
  }

  /** The memory that it uses, and will use after reading. */
  get bytes(): number {
    return Math.max(this.#searcher.bytesOf(this.#key), this.#reserved);
  }

  get isBeingRead(): boolean {
    return this.#reading !== undefined;
  }

  hasModule(module: string): boolean {
    return this.#modules.includes(module);
  }

  /** Whether it has all live rows up to a commit, with their vectors of a module. */
  reaches(commit: bigint, module: string): boolean {
    return commit <= this.#commit && this.hasModule(module);
  }

  /** Whether it can answer a search of a commit by a module. */
  has(commit: bigint, module: string): boolean {
    return this.#knownFrom <= commit && commit <= this.#commit && this.hasModule(module);
  }

  /**
   * Adds the changes of a commit, in the transaction of a search that needs it. @returns false if that is too much for
   * a search to wait for: {@link read} does it
   */
  async catchUp(tx: Transaction, commit: bigint, module: string): Promise<boolean> {
    if (this.has(commit, module)) return true;
    if (this.#commit < 0n || !this.hasModule(module) || this.#reading !== undefined) return false;
    return this.#inOrder(async () => {
      if (this.#commit >= commit) return this.has(commit, module);
      const after = this.#commit;
      const behind = lowestNumberOf(this.collection);
      const chunk = await readChunk(tx, this.collection, { after, upTo: commit }, this.#modules, behind, CHUNK_ROWS);
      if (chunk.forgotten > after || chunk.count === CHUNK_ROWS || chunk.ends > CHUNK_ROWS) return false;
      await this.#take(chunk, this.#modules);
      await this.#advance(commit);
      return true;
    });
  }

  /**
   * Reads all missing data of the last commit and a module, outside of any transaction.
   *
   * @param bytes memory of the collection after that
   * @param inTurn runs the reading when it is allowed
   */
  read(source: RowSource, module: string, bytes: number, inTurn: InTurn = (work) => work()): Promise<void> {
    this.#reserved = Math.max(this.#reserved, bytes);
    this.#reading ??= this.#inOrder(() => inTurn(() => this.#readAll(source, module))).finally(() => {
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

  /** As {@link Searcher.pairs}. */
  pairs(query: PairsQuery): Promise<NearPairs | undefined> {
    return this.#searcher.pairs(this.#key, query);
  }

  /** As {@link Searcher.place}. */
  async place(bytes: Uint8Array, isFirst: boolean): Promise<number[]> {
    const missing = await this.#searcher.place(this.#key, shared(bytes), isFirst);
    await this.#grown(this);
    return missing;
  }

  /**
   * Adds vectors of documents up to a commit that may be replaced. @returns false if it does not {@link reaches} the
   * commit
   */
  addRemoved(commit: bigint, module: string, vectors: Buffer): Promise<boolean> {
    return this.#inOrder(async () => {
      if (vectors.length === 0 || !this.reaches(commit, module)) return false;
      await this.#change({ kind: 'gone', module, dimensions: vectors.readUInt16BE(8), bytes: shared(vectors) });
      return true;
    });
  }

  /**
   * The filters whose matches, or all other documents, are in memory as of a commit, when `loaded` resolves. Requests that
   * use them may be sent before, because they take effect later. Release them with {@link release}.
   * @param keys identify filters; undefined: it is dropped when it is released
   */
  async filters(keys: readonly (string | undefined)[], commit: bigint, reader: MatchReader): Promise<LoadedFilters> {
    const filters = keys.map((key) => this.#use(key));
    const begun = this.#begun;
    try {
      await this.#dropOldest();
      const wanted: WantedMatches[] = [];
      const changes: Promise<void>[] = [];
      for (const [index, filter] of filters.entries()) {
        if (filter.commit >= commit) continue;
        const byValues = await this.#byValues(filter, index, commit, reader);
        if (byValues !== undefined) {
          changes.push(byValues.sent);
          continue;
        }
        const isMost = filter.isComplement ?? (await reader.isMost(index));
        // Another search may have decided in the meantime.
        filter.isComplement ??= isMost;
        wanted.push({ index, after: filter.commit, isComplement: filter.isComplement });
      }
      const matches = wanted.length === 0 ? [] : await reader.read(wanted, this.#last);
      if (wanted.length > 0 && (begun !== this.#begun || this.#commit < 0n)) {
        throw new SearcherError('all is read again');
      }
      for (const [i, { index }] of wanted.entries()) {
        const filter = filters[index] as InMemoryFilter;
        changes.push(this.#change({ kind: 'filter', filter: filter.number, docs: packed(matches[i] as DocNumbers) }));
        filter.commit = filter.commit > commit ? filter.commit : commit;
        this.#noteColumn(index, reader);
      }
      const loaded = changes.length === 0 ? Promise.resolve() : Promise.all(changes).then(() => this.#grown(this));
      // The failure is handled where the result is awaited.
      loaded.catch(() => undefined);
      return { filters: filters.map(({ number, isComplement = false }) => ({ number, isComplement })), loaded };
    } catch (error) {
      this.release(filters.map(({ number }) => number));
      throw error;
    }
  }

  /** @returns undefined if values in memory do not determine the matches of a filter */
  async #byValues(
    filter: InMemoryFilter,
    index: number,
    commit: bigint,
    { values }: MatchReader,
  ): Promise<{ readonly sent: Promise<void> } | undefined> {
    const test = values?.test(index);
    if (values === undefined || test === undefined) return undefined;
    const begun = this.#begun;
    const answered = await this.columns.answer(filter, test, commit, values);
    if (answered === undefined) return undefined;
    answered.sent.catch(() => undefined);
    if (begun !== this.#begun) throw new SearcherError('all is read again');
    filter.commit = filter.commit > commit ? filter.commit : commit;
    return answered;
  }

  #noteColumn(index: number, { values }: MatchReader): void {
    const test = values?.test(index);
    if (values && test) this.columns.note(test.column, values.source);
  }

  #use(key: string | undefined): InMemoryFilter {
    const known = key === undefined ? undefined : this.#filters.get(key);
    const filter = known ?? { number: this.#nextFilter++, commit: -1n, users: 0 };
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
  dropFilters(): Promise<void> {
    this.#dropping = this.#dropping.catch(() => undefined).then(() => this.#dropUnused());
    return this.#dropping;
  }

  async #dropUnused(): Promise<void> {
    await this.columns.drop();
    const unused = [...this.#filters].filter(([, { users }]) => users === 0);
    for (const [key] of unused) this.#filters.delete(key);
    await Promise.all(unused.map(([, { number }]) => this.#change({ kind: 'drop-filter', filter: number })));
  }

  release(numbers: readonly number[]): void {
    for (const filter of numbers) {
      for (const held of this.#filters.values()) if (held.number === filter) held.users--;
      // What is not dropped now is dropped with the collection.
      if (this.#once.delete(filter)) this.#change({ kind: 'drop-filter', filter }).catch(() => undefined);
    }
  }

  /** Number of filters in memory. */
  get filterCount(): number {
    return this.#filters.size + this.#once.size;
  }

  /** A read in progress ends with the next chunk. */
  async drop(): Promise<void> {
    const dropped = this.#change({ kind: 'drop' });
    this.#isDropped = true;
    await dropped;
  }

  /** Drops the least recently used filters, if there are too many. */
  async #dropOldest(): Promise<void> {
    for (const [key, filter] of this.#filters) {
      if (this.#filters.size <= MAX_FILTERS) return;
      if (filter.users > 0) continue;
      this.#filters.delete(key);
      await this.#change({ kind: 'drop-filter', filter: filter.number });
    }
  }

  async #readAll(source: RowSource, module: string): Promise<void> {
    const pin = await pinCommit(source, this.collection);
    try {
      if (pin.commit > LAST_COMMIT) throw new Error('there were more commits than the searcher can count');
      if (!this.hasModule(module) && this.#commit < 0n) this.#modules.push(module);
      await this.#readRows(source, pin.commit);
      if (!this.hasModule(module)) {
        await this.#readModule(source, module, pin.commit);
        this.#modules.push(module);
      }
    } finally {
      await removePin(source, pin);
    }
  }

  async #readRows(source: RowSource, upTo: bigint): Promise<void> {
    const after = this.#commit;
    if (after >= upTo) return;
    if (after < 0n) {
      this.#begun++;
      await this.#change({ kind: 'begin', exactRows: this.#exactRows });
    }
    let isForgotten = false;
    await inTurns(
      lowestNumberOf(this.collection),
      (behind) =>
        readFrom(source, this.collection, upTo, (tx) =>
          readChunk(tx, this.collection, { after, upTo }, this.#modules, behind),
        ),
      async (chunk) => {
        isForgotten ||= after >= 0n && (chunk.forgotten > after || chunk.ends > MAX_ENDS);
        if (!isForgotten) await this.#take(chunk, this.#modules);
      },
    );
    if (isForgotten) await this.#beginAgain(source, upTo);
    else await this.#advance(upTo);
  }

  /** Rows that were replaced since the last commit in memory are unknown, or too many to be worth reading. */
  async #beginAgain(source: RowSource, upTo: bigint): Promise<void> {
    this.#filters.clear();
    this.columns.clear();
    this.#commit = -1n;
    await this.#readRows(source, upTo);
  }

  async #readModule(source: RowSource, module: string, upTo: bigint): Promise<void> {
    await inTurns(
      lowestNumberOf(this.collection),
      (behind) => readFrom(source, this.collection, upTo, (tx) => readVectors(tx, this.collection, module, behind)),
      (chunk) => this.#take(chunk, [module]),
    );
  }

  async #take({ bytes, last }: Chunk, modules: readonly string[]): Promise<void> {
    this.#last = Math.max(this.#last, last);
    await this.#change({ kind: 'rows', modules: [...modules], bytes });
    await this.#grown(this);
  }

  async #advance(commit: bigint): Promise<void> {
    await this.#change({ kind: 'advance', commit: Number(commit) });
    if (commit !== this.#commit + 1n) this.#knownFrom = commit;
    this.#commit = commit;
  }

  async #change(request: Change): Promise<void> {
    const key = this.#key;
    if (this.#isDropped) throw new SearcherError('the collection is not in memory any more');
    return this.#searcher.change(key, { ...request, key } as Parameters<Searcher['change']>[1]);
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#changes.then(work);
    this.#changes = result.catch(() => undefined);
    return result;
  }
}

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
type Change = Without<Parameters<Searcher['change']>[1], 'key'>;

/** The same bytes in memory that all threads see. */
function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
