import type pg from 'pg';
import type { CopyIn } from './engine.ts';

/**
 * Sends statements and the rows of copies in one piece, and gets all replies in one round trip. The server ignores rows
 * that come after a failed statement.
 */
class CopyInQuery implements pg.Submittable {
  readonly #sql: string;
  readonly #copies: readonly CopyIn[];
  readonly done: Promise<void>;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(sql: string, copies: readonly CopyIn[]) {
    this.#sql = sql;
    this.#copies = copies;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: pg.Connection): void {
    const { stream } = connection;
    stream.cork();
    connection.query(this.#sql);
    for (const { rows } of this.#copies) {
      stream.write(rows.message());
      (connection as unknown as { endCopyFrom(): void }).endCopyFrom();
    }
    stream.uncork();
  }

  // The methods that a client of pg calls.
  handleError(error: Error): void {
    this.#reject(error);
  }

  handleReadyForQuery(): void {
    this.#resolve();
  }

  handleCopyInResponse(): void {}
  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}

/** As {@link Transaction.copyIn}. @throws errors of pg */
export function copyIn(client: pg.ClientBase, copies: readonly CopyIn[]): Promise<void> {
  const statements = copies.map(({ into }) => `copy ${into} from stdin (format binary)`);
  return client.query(new CopyInQuery(statements.join('; '), copies)).done;
}
