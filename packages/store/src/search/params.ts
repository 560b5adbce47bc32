import { AkinError } from '@akin/domain';
import type { SqlValue } from '../database/engine/engine.ts';

/** The wire protocol counts parameters in 16 bits. Some are reserved for the statement around a query. */
const MAX_PARAMS = 65_000;
/** With more, the database takes seconds to plan a statement, and the embedded one runs out of memory. */
const MAX_LOOPS = 256;
/**
 * Maximum number of separate conditions; combined values of one field do not count. 20,000 ranges take 4.6 s on the
 * embedded database, and 20,000 words of text more than 40 s with 100,000 documents, during which nothing else is
 * answered. (Solr allows 1,024 clauses of any kind.)
 */
const MAX_CONDITIONS = 2_000;

/** The values of a statement. Text of users reaches SQL only through here, never as text of the statement. */
export class Params {
  readonly values: SqlValue[] = [];
  #loops = 0;
  #conditions = 0;

  /** Adds a value and returns its reference in the statement: `$3::text`. `type` is one of our type names. */
  add(value: SqlValue, type: string): string {
    this.#push(value);
    return `$${this.values.length}::${type}`;
  }

  /** Adds the values of SQL that was made with other parameters. @returns that SQL, with its references in these */
  include(sql: string, own: Params): string {
    const first = this.values.length;
    for (const value of own.values) this.#push(value);
    this.countCondition(own.#conditions);
    this.countLoop(own.#loops);
    return first === 0 ? sql : sql.replace(/\$(\d+)::/g, (_, number) => `$${first + Number(number)}::`);
  }

  #push(value: SqlValue): void {
    if (this.values.length === MAX_PARAMS) {
      throw new AkinError('bad-request', 'The query has too many values. Split it into several requests.');
    }
    this.values.push(value);
  }

  /** Counts clauses that become separate conditions. @throws AkinError bad-request */
  countCondition(count = 1): void {
    this.#conditions += count;
    if (this.#conditions <= MAX_CONDITIONS) return;
    throw new AkinError(
      'bad-request',
      `The query has more than ${MAX_CONDITIONS} conditions. Many values of one field are fewer: field:(a b c) or {!terms f=field}a,b,c. Else split it into several requests.`,
    );
  }

  /**
   * Counts a clause that scans the words or values of a document one by one. @param cost its weight @throws AkinError
   * bad-request
   */
  countLoop(cost = 1): void {
    this.#loops += cost;
    if (this.#loops <= MAX_LOOPS) return;
    throw new AkinError(
      'bad-request',
      `The query has more than ${MAX_LOOPS} expensive clauses: wildcards, fuzzy words and ranges of words in text or lists, and phrases with slop. Split it into several requests.`,
    );
  }
}
