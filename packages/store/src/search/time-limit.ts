import type { Queryable } from '../engine/engine.ts';
import { wasCancelled } from '../engine/sqlstate.ts';

/**
 * Cuts an answer that takes too long: parts of it that do not come in time are left out, and all behind them. PGlite
 * cannot cancel a statement: there one that began is waited for (twenty seconds at most), and none begins late.
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

  /** The result of `read`, each of whose statements has what is left of the time; undefined when it is left out. */
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
      // The transaction is over with it: nothing more can be read.
      this.#over = true;
      return undefined;
    }
  }
}
