import { AkinError } from '@akin/domain';
import type pg from 'pg';

const MAX_USUAL = 8 * 1024 * 1024;

/** pg reads rows only as text: bytes would be sent as hexadecimal digits, which is the largest cost of reading many. */
class CopyOut implements pg.Submittable {
  /** Number of bytes of the last result: the next one is probably similar. */
  static #usual = 65_536;

  readonly #sql: string;
  readonly #maxBytes: number;
  #bytes = new Uint8Array(CopyOut.#usual);
  #size = 0;
  readonly done: Promise<Uint8Array>;
  #resolve: (bytes: Uint8Array) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(sql: string, maxBytes: number) {
    this.#sql = sql;
    this.#maxBytes = maxBytes;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#sql);
  }

  // The methods that a client of pg calls.
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

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#size > this.#maxBytes) {
      this.#reject(new AkinError('too-large', `The result has more than ${this.#maxBytes} bytes.`));
      return;
    }
    const bytes = new Uint8Array(new SharedArrayBuffer(this.#size));
    bytes.set(this.#bytes.subarray(0, this.#size));
    CopyOut.#usual = Math.max(65_536, Math.min(MAX_USUAL, this.#size));
    this.#resolve(bytes);
  }

  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}

/** As {@link Transaction.copy}. @throws errors of pg */
export function copyOut(
  client: pg.ClientBase,
  query: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  return client.query(new CopyOut(`copy (${query}) to stdout (format binary)`, maxBytes)).done;
}
