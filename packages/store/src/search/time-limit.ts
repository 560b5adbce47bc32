import type { Queryable } from '../engine/engine.ts';
import { wasCancelled } from '../engine/sqlstate.ts';

/**
 * Limits the time of an answer. After the limit no further part of the answer is begun, so later parts are left out.
 * PGlite cannot cancel a statement: a running one is waited for, twenty seconds at most.
 */
export class TimeLimit {
  readonly #tx: Queryable;
  readonly #deadline: number | undefined;
  #over = false;

  /** @param deadline in the time of `performance.now()`; undefined: there is none */
  constructor(tx: Queryable, deadline: number | undefined) {
    this.#tx = tx;
    this.#deadline = deadline;
  }

  /** Whether something was left out. */
  get over(): boolean {
    return this.#over;
  }

  /** The result of `read`, each of whose statements has the remaining time. Undefined if it is left out. */
  async within<T>(read: () => Promise<T>): Promise<T | undefined> {
    if (this.#over) return undefined;
    if (this.#deadline === undefined) return read();
    const left = Math.floor(this.#deadline - performance.now());
    this.#over = left < 1;
    if (this.#over) return undefined;
    await this.#tx.query(`set local statement_timeout = ${left}`);
    try {
      return await read();
    } catch (error) {
      if (!wasCancelled(error)) throw error;
      // The transaction has ended with it: nothing more can be read.
      this.#over = true;
      return undefined;
    }
  }
}
