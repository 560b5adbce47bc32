import { Worker } from 'node:worker_threads';
import { SearchedCollection } from './collection.ts';
import { mergeCandidates, shareOf } from './merge.ts';
import type { Answered, Request, ThreadConfig } from './messages.ts';
import type { Pairs, PairsQuery } from './pairs.ts';
import type { Candidates, CountQuery, VectorQuery } from './query.ts';

/** Resolves alike from src (under jest) and from dist. */
const THREAD_FILE = new URL('../dist/thread.js', import.meta.url);

/** The threads failed, or do not hold what they were asked about: it has to be brought again. */
export class SearcherError extends Error {}

export interface SearcherOptions {
  /** Each scans its share of the rows of a collection. */
  readonly threads: number;
  /** Collections of up to this many rows keep their vectors as they are, and are compared exactly. */
  readonly exactRows: number;
}

/** Vectors of one message: searches of a million rows wait some milliseconds for them. */
const VECTORS_AT_A_TIME = 16;

interface Pending {
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Holds codes of vectors in the memory of a few threads and finds the nearest of them. It knows no database: the caller
 * brings the rows, and says up to which commit all changes are there. Requests about a collection take effect
 * in the order in which they are made.
 */
export class Searcher implements AsyncDisposable {
  readonly #options: SearcherOptions;
  #threads: SearcherThread[] = [];
  #isClosed = false;
  /** Bytes of each collection by thread. */
  readonly #bytes = new Map<number, number[]>();

  constructor(options: SearcherOptions) {
    this.#options = options;
  }

  /** The memory that collections take, in bytes. */
  get bytes(): number {
    let sum = 0;
    for (const key of this.#bytes.keys()) sum += this.bytesOf(key);
    return sum;
  }

  /**
   * Maximum bytes of a collection with a number of documents and vectors of one module, without its filters.
   * @param dimensions numbers of a vector
   * @param exactRows as the collection was begun with; those of all when not given
   */
  bytesFor(documents: number, dimensions: number, exactRows = this.#options.exactRows): number {
    const { threads } = this.#options;
    const share = Math.ceil(documents / threads);
    return threads * SearchedCollection.bytesFor(share, dimensions, Math.ceil(exactRows / threads));
  }

  bytesOf(key: number): number {
    return (this.#bytes.get(key) ?? []).reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * Changes what is held of a collection.
   * @throws SearcherError when the collection was not begun, or a thread failed: everything that was held is lost then, and
   *   threads start again at the next request
   */
  async change(
    key: number,
    request: Exclude<Request, { kind: 'search' | 'count' | 'pairs' | 'cells' }>,
  ): Promise<void> {
    await this.#ask(key, request);
    if (request.kind === 'drop') this.#bytes.delete(key);
  }

  /**
   * Finds candidates for the nearest rows.
   * @returns undefined where the commit is too old to be searched
   * @throws SearcherError when a thread failed, or the collection, the commit or a filter is not held
   */
  async search(key: number, query: VectorQuery): Promise<Candidates | undefined> {
    const share = shareOf(query, this.#options.threads);
    const answers = await this.#ask(key, { kind: 'search', key, query: share });
    const parts = answers.map(({ candidates }) => candidates);
    if (parts.some((part) => part === undefined)) return undefined;
    return mergeCandidates(parts as Candidates[], query);
  }

  /** Counts rows, with the errors of {@link search}. @returns for each restriction; undefined as search does */
  async count(key: number, query: CountQuery): Promise<number[] | undefined> {
    const parts = (await this.#ask(key, { kind: 'count', key, query })).map(({ counts }) => counts);
    if (parts.some((part) => part === undefined)) return undefined;
    return query.restrictions.map((_, i) => parts.reduce((sum, part) => sum + (part?.[i] ?? 0), 0));
  }

  /**
   * Adds documents to cells; those that are there stay.
   *
   * @param bytes `int8send(doc)` and `int4send(cell)` of each @param isFirst whether none is in any cell yet
   * @returns those that are not here
   */
  async place(key: number, bytes: Uint8Array, isFirst: boolean): Promise<number[]> {
    const answers = await this.#ask(key, { kind: 'cells', key, bytes, isFirst });
    return answers.flatMap(({ missing }) => missing ?? []);
  }

  /**
   * Finds the documents near each of many vectors, among those in their cells. Other requests go between.
   * @returns undefined where the cells are not held any more
   */
  async pairs(key: number, query: PairsQuery): Promise<Pairs | undefined> {
    const found: Pairs[] = [];
    const count = query.ends.length;
    const dimensions = count === 0 ? 0 : query.vectors.length / count;
    let [left, next, isLost] = [query.mostPairs, 0, false];
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
          mostPairs: left,
        };
        for (const { pairs } of await this.#ask(key, { kind: 'pairs', key, query: part })) {
          if (pairs === undefined) {
            isLost = true;
          } else {
            left -= pairs.areTooMany ? Number.POSITIVE_INFINITY : pairs.docs.length;
            found.push({ ...pairs, queries: pairs.queries.map((i) => from + i) });
          }
        }
      }
    };
    // While one answer is read, the threads work on the next one.
    await Promise.all([askOn(), askOn()]);
    if (isLost) return undefined;
    const areTooMany = left < 0;
    return {
      areTooMany,
      compared: found.reduce((sum, { compared }) => sum + compared, 0),
      queries: Int32Array.from(areTooMany ? [] : found.flatMap(({ queries }) => Array.from(queries))),
      docs: Float64Array.from(areTooMany ? [] : found.flatMap(({ docs }) => Array.from(docs))),
    };
  }

  /** Ends the threads for good: what is asked from now on is refused. */
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

  async #ask(key: number, request: Request): Promise<Answered[]> {
    if (this.#isClosed) throw new SearcherError('the searcher was closed');
    if (this.#threads.length === 0) this.#start();
    const threads = this.#threads;
    const answers = await Promise.all(threads.map((thread) => thread.ask(request))).catch(async (error: unknown) => {
      // What the other threads hold is of no use without the share of the one that failed.
      if (this.#threads === threads && threads.some(({ hasFailed }) => hasFailed)) {
        await this.#endThreads();
      }
      throw error;
    });
    this.#bytes.set(
      key,
      answers.map(({ bytes }) => bytes),
    );
    return answers;
  }

  #start(): void {
    const { threads: count, exactRows } = this.#options;
    this.#threads = Array.from({ length: count }, (_, index) => new SearcherThread({ index, count, exactRows }));
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
    this.#worker.on('message', (answer: Answered) => {
      const pending = this.#pending.get(answer.number);
      this.#pending.delete(answer.number);
      if (this.#pending.size === 0) this.#worker.unref();
      if (answer.failure === undefined) pending?.resolve(answer);
      else pending?.reject(new SearcherError(answer.failure));
    });
    this.#worker.on('error', (error) => this.#fail(new SearcherError(error.message, { cause: error })));
    this.#worker.on('exit', () => this.#fail(new SearcherError('the thread ended')));
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  ask(request: Request): Promise<Answered> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const number = this.#number++;
      this.#pending.set(number, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ number, request });
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
