import { AkinError } from '@akin/domain';
import type pg from 'pg';
import type { CopyIn } from './engine.ts';

/** What a client of pg calls for statements of its own kind. */
abstract class CopyQuery<Result> implements pg.Submittable {
  readonly done: Promise<Result>;
  protected resolve: (result: Result) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor() {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.#reject = reject;
    });
  }

  abstract submit(connection: pg.Connection): void;
  abstract handleReadyForQuery(): void;

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleCopyInResponse(): void {}
  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}

/**
 * Sends statements and the rows of copies in one piece, and gets all replies in one round trip. The server ignores rows
 * that come after a failed statement.
 */
class CopyInQuery extends CopyQuery<void> {
  readonly #copies: readonly CopyIn[];

  constructor(copies: readonly CopyIn[]) {
    super();
    this.#copies = copies;
  }

  submit(connection: pg.Connection): void {
    const { stream } = connection;
    stream.cork();
    connection.query(this.#copies.map(({ into }) => `copy ${into} from stdin (format binary)`).join('; '));
    for (const { rows } of this.#copies) {
      stream.write(rows.message());
      (connection as unknown as { endCopyFrom(): void }).endCopyFrom();
    }
    stream.uncork();
  }

  handleReadyForQuery(): void {
    this.resolve();
  }
}

const FIRST_BYTES = 64 * 1024;
const MAX_USUAL = 8 * 1024 * 1024;

/** pg reads rows only as text: bytes would be sent as hexadecimal digits, which is the largest cost of reading many. */
class CopyOutQuery extends CopyQuery<Uint8Array> {
  /** Number of bytes of the last result: the next one is probably similar. */
  static #usual = FIRST_BYTES;

  readonly #query: string;
  readonly #maxBytes: number;
  #bytes = new Uint8Array(CopyOutQuery.#usual);
  #size = 0;

  constructor(query: string, maxBytes: number) {
    super();
    this.#query = query;
    this.#maxBytes = maxBytes;
  }

  submit(connection: pg.Connection): void {
    connection.query(`copy (${this.#query}) to stdout (format binary)`);
  }

  handleCopyData({ chunk }: { readonly chunk: Uint8Array }): void {
    const size = this.#size + chunk.length;
    this.#size = size;
    if (size > this.#maxBytes) {
      // Nothing is kept, but all must be received.
      this.#bytes = new Uint8Array(0);
      return;
    }
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(2 * size);
      larger.set(this.#bytes.subarray(0, size - chunk.length));
      this.#bytes = larger;
    }
    // The client overwrites a chunk when more data arrives.
    this.#bytes.set(chunk, size - chunk.length);
  }

  handleReadyForQuery(): void {
    if (this.#size > this.#maxBytes) {
      this.handleError(new AkinError('too-large', `The result has more than ${this.#maxBytes} bytes.`));
      return;
    }
    const bytes = new Uint8Array(new SharedArrayBuffer(this.#size));
    bytes.set(this.#bytes.subarray(0, this.#size));
    CopyOutQuery.#usual = Math.max(FIRST_BYTES, Math.min(MAX_USUAL, this.#size));
    this.resolve(bytes);
  }
}

/** As {@link WritingTransaction.copyIn}. @throws errors of pg */
export function copyIn(client: pg.ClientBase, copies: readonly CopyIn[]): Promise<void> {
  return client.query(new CopyInQuery(copies)).done;
}

/** As {@link Transaction.copy}. @throws errors of pg */
export function copyOut(
  client: pg.ClientBase,
  query: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  return client.query(new CopyOutQuery(query, maxBytes)).done;
}
