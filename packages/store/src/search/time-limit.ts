import type { Queryable } from '../database/engine/engine.ts';
import { wasCancelled } from '../database/engine/sqlstate.ts';

/**
 * Limits the time of a search. After the limit, the parts that have not begun are left out. PGlite cannot cancel a
 * statement: it ends a running one first, which takes at most twenty seconds.
 */
export class TimeLimit {
  readonly #tx: Queryable;
  readonly #deadline: number | undefined;
  #isOver = false;

  /** @param deadline in the time of `performance.now()`; undefined: there is none */
  constructor(tx: Queryable, deadline: number | undefined) {
    this.#tx = tx;
    this.#deadline = deadline;
  }

  /** Whether something was left out. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs `read`. Each of its statements has the remaining time. @returns undefined if there is none left */
  async within<T>(read: () => Promise<T>): Promise<T | undefined> {
    if (this.#isOver) return undefined;
    if (this.#deadline === undefined) return read();
    const left = Math.floor(this.#deadline - performance.now());
    this.#isOver = left < 1;
    if (this.#isOver) return undefined;
    await this.#tx.query(`set local statement_timeout = ${left}`);
    try {
      return await read();
    } catch (error) {
      if (!wasCancelled(error)) throw error;
      // The statement was cancelled, which also ended the transaction: nothing more can be read.
      this.#isOver = true;
      return undefined;
    }
  }
}
