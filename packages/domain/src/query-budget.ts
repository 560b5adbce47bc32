import { type QueryScanner, queryError } from './query-scanner.ts';

/** Maximum UTF-16 units of a query: lists of ten thousand ids occur in practice, by POST. */
export const MAX_QUERY_LENGTH = 1_048_576;
/** Maximum clauses (values, phrases, ranges …) of one query, in all its groups. */
const MAX_QUERY_CLAUSES = 20_000;
/**
 * Maximum nesting of groups and local parameters. Groups of many clauses become nested sums in SQL, and the embedded
 * database ran out of stack at 190.
 */
const MAX_QUERY_DEPTH = 100;

/**
 * Counts the parts of a query in all its groups, so that a huge query is rejected before it exhausts memory or stack.
 */
export class QueryBudget {
  #clauses = 0;
  #depth = 0;
  #referred = 0;

  countClause(scanner: QueryScanner, position: number): void {
    if (++this.#clauses > MAX_QUERY_CLAUSES) {
      throw scanner.error(position, `the query has more than ${MAX_QUERY_CLAUSES} clauses`);
    }
  }

  /** Counts text of other parameters (`$name`), so that a few short references cannot create a huge query. */
  countReferenced(length: number): void {
    this.#referred += length;
    if (this.#referred > MAX_QUERY_LENGTH) {
      throw queryError('', 0, `its $parameters add more than ${MAX_QUERY_LENGTH} characters`);
    }
  }

  /** Calls `read` one nesting level deeper. */
  nested<T>(scanner: QueryScanner, position: number, read: () => T): T {
    if (++this.#depth > MAX_QUERY_DEPTH) {
      throw scanner.error(position, `groups are nested more than ${MAX_QUERY_DEPTH} deep`);
    }
    const result = read();
    this.#depth--;
    return result;
  }
}
