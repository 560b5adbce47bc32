import type pg from 'pg';

const MAX_USUAL = 8 * 1024 * 1024;

/** pg reads rows only as text: bytes would be sent as hexadecimal digits, which is the largest cost of reading many. */
class CopyOut implements pg.Submittable {
  /** Number of bytes of the last result: the next one is probably similar. */
  static #usual = 65_536;

  readonly #sql: string;
  #bytes = new Uint8Array(CopyOut.#usual);
  #size = 0;
  readonly done: Promise<Uint8Array>;
  #resolve: (bytes: Uint8Array) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(sql: string) {
    this.#sql = sql;
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
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(2 * size);
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
    // The client overwrites a chunk when more data arrives.
    this.#bytes.set(chunk, this.#size);
    this.#size = size;
  }

  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
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

/** The result of a query, as {@link Queryable.copy} returns it. @throws errors of pg */
export function copyOut(client: pg.ClientBase, query: string): Promise<Uint8Array> {
  return client.query(new CopyOut(`copy (${query}) to stdout (format binary)`)).done;
}
