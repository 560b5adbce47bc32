import { Worker } from 'node:worker_threads';
import type { AssignedCell } from './cells.ts';
import { SearchedCollection } from './collection.ts';
import { mergeHeads } from './heads.ts';
import { mergeCandidates, queryForPart } from './merge.ts';
import type { CollectionChange, ReplyMessage, Request, RequestMessage, ThreadConfig } from './messages.ts';
import type { NearPairs, PairsQuery } from './pairs.ts';
import type { PartMatch } from './points/verify.ts';
import {
  type Candidates,
  type CountQuery,
  type Heads,
  type HeadsQuery,
  PART_CANDIDATES,
  type PartQuery,
  type PointCandidate,
  type PointQuery,
  type VectorQuery,
} from './query.ts';

/** This path is correct both from src (under jest) and from dist. */
const THREAD_FILE = new URL('../dist/thread.js', import.meta.url);

/** The threads failed, or do not have the requested data: the caller has to load it again. */
export class SearcherError extends Error {}

export interface SearcherOptions {
  /** Number of threads. Each scans its share of the rows of a collection. */
  readonly threads: number;
  /** Collections with up to this many rows keep full vectors and are compared exactly. */
  readonly exactRows: number;
}

/** Vectors in one message. With a million rows, other searches wait some milliseconds for these. */
const VECTORS_AT_A_TIME = 16;

interface Pending {
  readonly resolve: (reply: ReplyMessage) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Keeps codes of vectors in the memory of a few threads and finds the nearest ones. It does not access the database:
 * the caller loads the rows and says up to which commit all changes are loaded. Requests about a collection take effect
 * in the order of the calls.
 */
export class Searcher implements AsyncDisposable {
  readonly #options: SearcherOptions;
  #threads: SearcherThread[] = [];
  #isClosed = false;
  /** Bytes of each collection, for each thread. */
  readonly #bytes = new Map<number, number[]>();

  constructor(options: SearcherOptions) {
    this.#options = options;
  }

  /** Memory of all collections, in bytes. */
  get bytes(): number {
    let sum = 0;
    for (const key of this.#bytes.keys()) sum += this.bytesOf(key);
    return sum;
  }

  /**
   * Maximum bytes of a collection with a number of documents and vectors of one module, without its filters.
   * @param dimensions the dimensions of the vectors; 0 for a module with points; undefined: rows alone
   */
  bytesFor(documents: number, dimensions: number | undefined): number {
    const { threads, exactRows } = this.#options;
    const share = Math.ceil(documents / threads);
    return threads * SearchedCollection.bytesFor(share, dimensions, Math.ceil(exactRows / threads));
  }

  bytesOf(key: number): number {
    return (this.#bytes.get(key) ?? []).reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * @throws SearcherError when the collection was not begun, or a thread failed: then all data is lost, and the threads
   * restart at the next request
   */
  async change(key: number, request: CollectionChange): Promise<void> {
    await this.#ask(key, request);
    if (request.kind === 'drop') this.#bytes.delete(key);
  }

  /**
   * Finds candidates for the nearest rows.
   * @returns undefined if the commit is too old to be searched
   * @throws SearcherError when a thread failed, or the collection, the commit or a filter is not loaded
   */
  async search(key: number, query: VectorQuery): Promise<Candidates | undefined> {
    const share = queryForPart(query, this.#options.threads);
    const parts = await this.#askForParts(key, { kind: 'search', query: share }, ({ candidates }) => candidates);
    return parts && mergeCandidates(parts, query);
  }

  /**
   * Counts rows, with the errors of {@link search}. @returns one count for each restriction; undefined as in `search`
   */
  async count(key: number, query: CountQuery): Promise<number[] | undefined> {
    const parts = await this.#askForParts(key, { kind: 'count', query }, ({ counts }) => counts);
    return parts && query.restrictions.map((_, i) => parts.reduce((sum, part) => sum + (part[i] ?? 0), 0));
  }

  /** Finds the head of each group, with the errors of {@link search}. @returns undefined as in `search` */
  async heads(key: number, query: HeadsQuery): Promise<Heads | undefined> {
    const parts = await this.#askForParts(key, { kind: 'heads', query }, ({ heads }) => heads);
    return parts && mergeHeads(parts, query);
  }

  /**
   * Finds documents that may have a part in common with a picture, most likely first.
   * @returns undefined as in {@link search}
   */
  async findParts(key: number, query: PointQuery): Promise<PointCandidate[] | undefined> {
    const parts = await this.#askForParts(key, { kind: 'points', query }, ({ points }) => points);
    const found = parts?.flat();
    found?.sort((a, b) => b.support - a.support || a.doc - b.doc);
    return (
      found &&
      [false, true].flatMap((side) => found.filter(({ isMirrored }) => isMirrored === side).slice(0, PART_CANDIDATES))
    );
  }

  /** Checks which candidates have a part in common with a picture. @returns by position; undefined for the others */
  async checkParts(key: number, query: PartQuery): Promise<(PartMatch | undefined)[]> {
    const found = query.candidates.map((): PartMatch | undefined => undefined);
    for (const { parts = [] } of await this.#ask(key, { kind: 'parts', query })) {
      for (const [i, match] of parts) found[i] = match;
    }
    return found;
  }

  /**
   * Assigns documents to cells. Documents that have a cell keep it.
   *
   * @param bytes `int8send(doc)` and `int4send(cell)` for each document
   * @param isFirst whether no document has a cell yet
   * @returns the documents that are not loaded with a vector of the module, and their cells
   */
  async assignCells(key: number, module: string, bytes: Uint8Array, isFirst: boolean): Promise<AssignedCell[]> {
    const replies = await this.#ask(key, { kind: 'cells', module, bytes, isFirst });
    return replies.flatMap(({ missing }) => missing ?? []);
  }

  /**
   * Finds the documents near each of many vectors, among documents with the same cells. Other requests run in between.
   * @returns undefined if the cells are no longer loaded
   */
  async pairs(key: number, query: PairsQuery): Promise<NearPairs | undefined> {
    const found: NearPairs[] = [];
    const count = query.ends.length;
    const dimensions = count === 0 ? 0 : query.vectors.length / count;
    let [left, next, isLost] = [query.maxPairs, 0, false];
    const askOn = async () => {
      while (next < count && left >= 0 && !isLost) {
        const from = next;
        next = Math.min(count, from + VECTORS_AT_A_TIME);
        const first = query.ends[from - 1] ?? 0;
        const part = {
          ...query,
          vectors: query.vectors.slice(from * dimensions, next * dimensions),
          cells: query.cells.slice(first, query.ends[next - 1]),
          ends: query.ends.slice(from, next).map((end) => end - first),
          maxPairs: left,
        };
        for (const { pairs } of await this.#ask(key, { kind: 'pairs', query: part })) {
          if (pairs === undefined) {
            isLost = true;
          } else {
            left -= pairs.isOverLimit ? Number.POSITIVE_INFINITY : pairs.docs.length;
            found.push({ ...pairs, queries: pairs.queries.map((i) => from + i) });
          }
        }
      }
    };
    // While one reply is read, the threads compute the next one.
    await Promise.all([askOn(), askOn()]);
    if (isLost) return undefined;
    const isOverLimit = left < 0;
    return {
      isOverLimit,
      queries: Int32Array.from(isOverLimit ? [] : found.flatMap(({ queries }) => Array.from(queries))),
      docs: Float64Array.from(isOverLimit ? [] : found.flatMap(({ docs }) => Array.from(docs))),
    };
  }

  /** Ends the threads permanently: later requests are rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#endThreads();
  }

  async #endThreads(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    this.#bytes.clear();
    await Promise.all(threads.map((thread) => thread[Symbol.asyncDispose]()));
  }

  /** @returns what each thread found; undefined if the commit is too old to be searched */
  async #askForParts<T>(
    key: number,
    request: Request,
    pick: (reply: ReplyMessage) => T | undefined,
  ): Promise<T[] | undefined> {
    const parts = (await this.#ask(key, request)).map(pick);
    return parts.some((part) => part === undefined) ? undefined : (parts as T[]);
  }

  async #ask(key: number, request: Request): Promise<ReplyMessage[]> {
    if (this.#isClosed) throw new SearcherError('the searcher was closed');
    if (this.#threads.length === 0) {
      try {
        this.#start();
      } catch (error) {
        await this.#endThreads();
        throw new SearcherError('a thread could not be started', { cause: error });
      }
    }
    const threads = this.#threads;
    const asked = Promise.all(threads.map((thread) => thread.ask(key, request)));
    const replies = await asked.catch(async (error: unknown) => {
      // Without the share of the thread that failed, the data of the others is useless.
      if (this.#threads === threads && threads.some(({ hasFailed }) => hasFailed)) {
        await this.#endThreads();
      }
      throw error;
    });
    this.#bytes.set(
      key,
      replies.map(({ bytes }) => bytes),
    );
    return replies;
  }

  /** @throws the error of a thread that cannot be started, such as one beyond the limit of a container */
  #start(): void {
    const { threads: count, exactRows } = this.#options;
    for (let index = 0; index < count; index++) this.#threads.push(new SearcherThread({ index, count, exactRows }));
  }
}

class SearcherThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #number = 0;
  #failure: Error | undefined;

  constructor(config: ThreadConfig) {
    this.#worker = new Worker(THREAD_FILE, { workerData: config, execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (reply: ReplyMessage) => {
      const pending = this.#pending.get(reply.number);
      this.#pending.delete(reply.number);
      if (this.#pending.size === 0) this.#worker.unref();
      if (reply.failure === undefined) pending?.resolve(reply);
      else pending?.reject(new SearcherError(reply.failure));
    });
    this.#worker.on('error', (error) => this.#fail(new SearcherError(error.message, { cause: error })));
    this.#worker.on('exit', () => this.#fail(new SearcherError('the thread ended')));
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  ask(key: number, request: Request): Promise<ReplyMessage> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const number = this.#number++;
      this.#pending.set(number, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ number, key, request } satisfies RequestMessage);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fail(new SearcherError('the searcher was closed'));
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}
