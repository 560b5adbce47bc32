import { AkinRequestError, type Collection } from '@akin/client';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { InputPosition, Line } from './line.ts';
import type { LocalPictures } from './local-pictures.ts';
import { failedOperations, OperationWatcher, seqOf } from './operation-watcher.ts';
import type { Progress, ProgressFile } from './progress-file.ts';
import type { CsvOptions } from './read-csv.ts';
import { type BulkDocument, type ExportHeader, readDocument } from './read-document.ts';
import { type Format, readLines } from './read-lines.ts';
import type { Rejects } from './rejects.ts';
import type { RepeatedIds } from './repeated-ids.ts';
import { retryTransient } from './retry-transient.ts';
import { sendBatch } from './send-batch.ts';
import { SendQueues } from './send-queues.ts';
import { tableDocuments } from './table-documents.ts';

export interface ImportConfig {
  readonly collection: Collection;
  /** `-` for standard input. */
  readonly file: string;
  /** Where an earlier run ended. Null starts at the beginning. */
  readonly previousProgress: Progress;
  readonly progressFile: ProgressFile | undefined;
  readonly rejects: Rejects;
  readonly format: Format;
  readonly cells: CsvOptions;
  /** The types of fields, by name, that must exist before the first document. */
  readonly fields: Readonly<Record<string, string>>;
  /** Analyzes the pictures of a table that are files of this machine. */
  readonly pictures: LocalPictures | undefined;
  /** Finds rows of a table with the same id; undefined if the input is no table. */
  readonly repeated: RepeatedIds | undefined;
  readonly parallel: number;
  readonly compress: boolean;
  readonly modules: string | undefined;
  /** Stop at the first document that akin refuses. */
  readonly strict: boolean;
  readonly maxOutageMilliseconds: number;
  readonly signal: AbortSignal;
}

export interface ImportState {
  accepted: number;
  /** Number of bytes of the unpacked input that were read. */
  bytes: number;
}

export class StrictError extends Error {
  override readonly name = 'StrictError';
}

const SAVE_MILLISECONDS = 2_000;
/** Time limit of one wait for a commit. Then the request is repeated, so that no connection has to last longer. */
const COMMIT_WAIT_MILLISECONDS = 20_000;

export class Import {
  readonly state: ImportState;
  readonly #config: ImportConfig;
  readonly #watcher: OperationWatcher;
  readonly #queues: SendQueues;
  readonly #ranges: (readonly [first: number, last: number])[];
  #read: InputPosition;
  #newest: Progress['newest'];

  constructor(config: ImportConfig) {
    this.#config = config;
    const { collection, previousProgress, parallel, maxOutageMilliseconds, compress, modules, signal } = config;
    this.state = { accepted: previousProgress.accepted, bytes: previousProgress.start.bytes };
    this.#ranges = [...previousProgress.ranges];
    this.#read = previousProgress.start;
    this.#newest = previousProgress.newest;
    this.#watcher = new OperationWatcher(
      collection,
      previousProgress.followed,
      (line, id, reason) => this.#reject(line, id, reason),
      (ask) => this.#retry(ask),
    );
    const limiter = new ConcurrencyLimiter(parallel);
    const parameters = { async: true, ...(modules === undefined ? {} : { 'modules.apply': modules }) };
    const sending = {
      collection,
      limiter,
      compress,
      parameters,
      maxOutageMilliseconds,
      signal,
      accepted: (documents: readonly BulkDocument[], first: string, token: string) =>
        this.#accepted(documents, seqOf(first), token),
      refused: ({ number, id }: BulkDocument, reason: string) => this.#reject(number, id, reason),
    };
    this.#queues = new SendQueues(parallel, (batch) => sendBatch(batch, sending));
    if (config.strict && config.rejects.count > 0) throw new StrictError('An earlier run had refused documents.');
  }

  get waiting(): number {
    return this.#watcher.waiting;
  }

  /**
   * Sends all documents. If the run is interrupted, the progress file says where to continue.
   *
   * @throws StrictError; AkinRequestError when akin accepts nothing; the reason of the signal; errors of the input
   */
  async send(): Promise<void> {
    const { file, format, cells, fields, pictures, signal, progressFile } = this.#config;
    const saving = setInterval(() => void this.#save(), SAVE_MILLISECONDS);
    try {
      await this.#define({ fields });
      const { columns } = cells;
      const lines = readLines(file, this.#read, format, cells, signal);
      const isPlain = columns.id === 'id' && columns.picture === undefined;
      for await (const line of isPlain ? lines : tableDocuments(lines, columns, pictures, signal)) {
        signal.throwIfAborted();
        await this.#take(line);
        this.#read = { lines: line.number, bytes: line.end };
        this.state.bytes = line.end;
        await this.#watcher.waitForCapacity(signal);
      }
      await this.#queues.end();
      await this.#watcher.waitForCapacity(signal, true);
    } catch (error) {
      await this.#queues.waitForRequests();
      throw error;
    } finally {
      clearInterval(saving);
      if (progressFile) await this.#save();
    }
  }

  /**
   * Commits what this and earlier runs got accepted, and waits until it is visible. Then looks for operations that the
   * commit refused. Harmless if nothing was accepted.
   */
  async publish(): Promise<void> {
    const { collection, signal } = this.#config;
    if (this.#newest.token === '') return;
    await this.#retry(() => collection.commit({ waitSearcher: false }));
    for (let isVisible = false; !isVisible; ) {
      isVisible = await this.#retry(async () => {
        try {
          const wait = { after: this.#newest.token, afterTimeout: COMMIT_WAIT_MILLISECONDS };
          await collection.select({ rows: 0, ...wait }, { signal });
          return true;
        } catch (error) {
          if (error instanceof AkinRequestError && error.status === 503) return false;
          throw error;
        }
      });
    }
    for (const [first, last] of merged(this.#ranges)) {
      const failed = failedOperations(collection, first, last, signal, (ask) => this.#retry(ask));
      for await (const { id, reason } of failed) {
        this.#reject(undefined, id, reason);
      }
    }
  }

  #retry<Value>(work: () => Promise<Value>): Promise<Value> {
    const { maxOutageMilliseconds, signal } = this.#config;
    return retryTransient(work, maxOutageMilliseconds, signal);
  }

  async #take(line: Line): Promise<void> {
    const document = readDocument(line);
    if ('problem' in document) this.#reject(line.number, undefined, document.problem);
    else if ('header' in document) await this.#define(document.header);
    else await this.#queues.add(document);
  }

  async #define({ fields }: ExportHeader): Promise<void> {
    if (Object.keys(fields).length === 0) return;
    await this.#retry(() => this.#config.collection.defineFields(fields));
  }

  #accepted(documents: readonly BulkDocument[], first: number, token: string): void {
    this.state.accepted += documents.length;
    // Documents with the same id are accepted in their order.
    for (const document of documents) this.#config.repeated?.see(document);
    const last = first + documents.length - 1;
    if (last > this.#newest.seq) this.#newest = { seq: last, token };
    if (documents.some(({ hasPicture }) => hasPicture)) {
      this.#watcher.add({ first, last, lines: documents.map(({ number }) => number) });
    } else this.#ranges.push([first, last]);
  }

  #reject(line: number | undefined, id: string | undefined, reason: string): void {
    this.#config.rejects.add(line, id, reason);
    if (this.#config.strict) throw new StrictError(`${line === undefined ? '' : `Line ${line}: `}${reason}`);
  }

  async #save(): Promise<void> {
    const { progressFile, rejects, previousProgress } = this.#config;
    if (!progressFile) return;
    const first = this.#queues.first();
    await progressFile.write({
      start: first === undefined ? this.#read : { lines: first.number - 1, bytes: first.start },
      accepted: this.state.accepted,
      rejected: previousProgress.rejected + rejects.count,
      followed: this.#watcher.ranges,
      ranges: merged(this.#ranges),
      newest: this.#newest,
    });
  }
}

function merged(ranges: Progress['ranges']): [number, number][] {
  const all: [number, number][] = [];
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = all.at(-1);
    if (before !== undefined && before[1] + 1 === first) before[1] = last;
    else all.push([first, last]);
  }
  return all;
}
